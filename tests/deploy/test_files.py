"""The files of `deploy/`, read as those read them who run them: one fact in several files is the same fact, and nothing is open that
need not be."""

from __future__ import annotations

import configparser
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from chatapp.gateway.served.refused import LONGEST_BODY
from chatapp.pages.door.caps import QUESTION
from chatapp.pages.door.reception import PATIENCE, seconds_for
from tests.deploy.proxied import caddy_command, caddy_environment
from tests.deploy.rehearsal import steps_of
from tests.support.readme import settings_in_readme
from tests.support.shell import ROOT

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed: deploy/compose.yaml is not read")
DEPLOY = ROOT / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
# Of the proxy's and the databases' own.
OTHERS = {
    "POSTGRES_PASSWORD",
    "POSTGRES_USER",
    "POSTGRES_DB",
    "SERVERS",
    "TLS",
    "HTTP_PORT",
    "HTTPS_PORT",
    "WORKER_PORT",
}
EXPOSURE_IN_TENTHS = 20


@pytest.fixture(scope="module")
def compose():
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text())


@pytest.fixture(scope="module")
def services(compose):
    return compose["services"]


# compose.yaml


def test_there_are_two_of_each_that_share_nothing_but_static_files(services):
    pairs = {name.rpartition("-")[0] for name in services if "-" in name}
    assert pairs == {"web", "work"}
    for kind in pairs:
        one, two = (services[f"{kind}-{n}"] for n in (1, 2))
        assert {**one, "volumes": None} == {**two, "volumes": None}
        assert set(one["volumes"]) & set(two["volumes"]) == ({"static:/static"} if kind == "web" else set())
        assert one["environment"].get("STATIC_SHARED_DIR") == ("/static" if kind == "web" else None)


def test_nobody_may_write_into_a_root_or_is_root_or_may_become_it(services):
    for name, service in services.items():
        assert service["read_only"] is True, name
        assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", service["user"]), name
        assert service["cap_drop"] == ["ALL"] and "cap_add" not in service and "privileged" not in service, (
            name
        )
        assert service["security_opt"] == ["no-new-privileges:true"], name


def test_ports_are_the_proxys_alone_and_the_databases_have_no_way_out(compose, services):
    assert [name for name, service in services.items() if "ports" in service] == ["proxy"]
    assert compose["networks"]["inside"] == {"internal": True}
    assert services["db"]["networks"] == services["redis"]["networks"] == ["inside"]
    assert not [
        name for name, service in services.items() if "network_mode" in service or "expose" in service
    ]


def test_whoever_stays_is_asked_how_it_is_and_comes_back(services):
    for name, service in services.items():
        if name != "tables":
            assert service["healthcheck"]["test"][0] == "CMD" and service["restart"] == "always", name
    assert "/health/ready" in services["web-1"]["healthcheck"]["test"][-1]
    port = services["work-1"]["environment"]["WORKER_PORT"]
    assert f":{port}/health/ready" in services["work-1"]["healthcheck"]["test"][-1]


def test_who_waits_for_whom_is_there_and_every_volume_and_network_is_named(compose, services):
    for service in services.values():
        assert set(service.get("depends_on", {})) <= services.keys()
        assert set(service["networks"]) <= compose["networks"].keys()
        assert {volume.split(":")[0] for volume in service.get("volumes", [])} <= compose["volumes"].keys()
    assert services["tables"]["command"][0] == "migrate"


def test_turns_have_time_to_end_before_anybody_is_killed(services):
    from chatapp.settings import DRAIN_SECONDS

    for name in ("web-1", "work-1"):
        assert int(services[name]["stop_grace_period"].removesuffix("s")) > DRAIN_SECONDS


def test_no_secret_stands_in_any_file(services):
    for service in services.values():
        for name, value in service.get("environment", {}).items():
            if re.search("PASSWORD|SECRET|KEY", name):
                assert re.fullmatch(r"\$\{\w+:\?[\w/ .]+\}", value), name
            assert not re.search(r"://[^$/@]*:[^$/@]+@", value), name
    for file in DEPLOY.rglob("*"):
        if file.is_file() and file.suffix != ".pyc":
            text = file.read_text()
            assert not re.search(r"-----BEGIN|\bsk-|\btl_|[0-9a-f]{32}|[A-Za-z0-9+/]{40}", text), file
    lines = (DEPLOY / "example.env").read_text().splitlines()
    assert [line for line in lines if not line.startswith("#") and not line.endswith("=")] == []
    assert "/deploy/.env" in (ROOT / ".gitignore").read_text().splitlines()


def test_every_name_that_is_set_is_a_setting(services):
    named = {name for service in services.values() for name in service.get("environment", {})}
    named |= {
        line.partition("=")[0]
        for line in (DEPLOY / "example.env").read_text().splitlines()
        if "=" in line and line[0] != "#"
    }
    for step in steps_of("program"):
        if step.word == "ENV":
            named |= {word.partition("=")[0] for word in step.words} - {"PATH", "PYTHONDONTWRITEBYTECODE"}
    for unit in UNITS:
        named |= {word.partition("=")[0] for word in read_unit(unit)["Service"]["Environment"].split()}
    assert named - OTHERS <= settings_in_readme()


# Dockerfile


def test_the_last_image_is_small_and_nobodys(services):
    words = {step.word: step.rest for step in steps_of("program")}
    assert words["FROM"] == next(iter(steps_of("build"))).rest.replace(" AS build", " AS program")
    assert "slim" in words["FROM"] and words["USER"] == services["web-1"]["user"]
    assert words["COPY"].startswith("--from=build ")
    assert {step.rest for step in steps_of("proxy") if step.word == "USER"} == {services["proxy"]["user"]}


def test_everything_that_is_installed_has_its_hash():
    installs = [step.rest for step in steps_of("build") if " install " in step.rest]
    assert len(installs) == 3
    for line in installs:
        assert "--require-hashes" in line or "--no-index" in line
        assert "--no-deps" in line


def test_what_is_copied_is_sent_to_the_builder_and_nothing_else():
    listed = (DEPLOY / "Dockerfile.dockerignore").read_text().split()
    allowed = {line[1:] for line in listed if line.startswith("!")}
    copied = {
        word.removeprefix("./")
        for stage in ("build", "proxy")
        for step in steps_of(stage)
        if step.word == "COPY"
        for word in step.words[:-1]
    }
    assert listed[0] == "*" and copied == allowed


# Caddyfile


def test_the_proxy_takes_as_much_and_waits_as_long_as_the_servers():
    text = (DEPLOY / "Caddyfile").read_text()
    sizes = [int(size) * 2**20 for size in re.findall(r"max_size (\d+)MiB", text)]
    assert sizes == [LONGEST_BODY, QUESTION]
    assert f"read_header {PATIENCE:.0f}s" in text
    assert f"read_body {seconds_for(LONGEST_BODY):.0f}s" in text


def test_nothing_on_its_way_is_gathered_or_kept():
    text = re.sub(r"#.*", "", (DEPLOY / "Caddyfile").read_text())
    assert not re.search(r"flush_interval|_buffers|encode|cache|\blog\b|trusted_proxies|header_up", text)
    assert "keepalive off" in text


@pytest.mark.skipif(not shutil.which("caddy"), reason="NOT TESTED: deploy/Caddyfile. Install caddy")
@pytest.mark.parametrize("more", [{}, {"HTTP_PORT": "8080", "HTTPS_PORT": "8443"}])
def test_the_proxy_understands_its_configuration(tmp_path, more):
    settings = {
        "PUBLIC_URL": "https://chat.example.org",
        "SERVERS": "web-1:8000 web-2:8000",
        "TLS": "",
    } | more
    ended = subprocess.run(
        caddy_command("validate"), env=caddy_environment(tmp_path, settings), capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stderr
    assert '"level":"warn"' not in ended.stderr


# systemd


def read_unit(file: Path) -> configparser.ConfigParser:
    unit = configparser.ConfigParser(interpolation=None, strict=True)
    unit.optionxform = str
    unit.read_string(file.read_text())
    return unit


def test_units_come_back_always_and_write_into_their_folders_alone():
    assert [file.name for file in UNITS] == ["thoughtline-web@.service", "thoughtline-work@.service"]
    for file in UNITS:
        service = read_unit(file)["Service"]
        folders = re.findall(r"=/var/lib/(\S+)", service["Environment"])
        assert service["StateDirectory"].split() == folders
        assert (service["User"], service["Restart"]) == ("thoughtline", "always")
        assert (service["ProtectSystem"], service["CapabilityBoundingSet"]) == ("strict", "")


def test_units_let_turns_end():
    from chatapp.settings import DRAIN_SECONDS

    assert all(int(read_unit(file)["Service"]["TimeoutStopSec"]) > DRAIN_SECONDS for file in UNITS)


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="NOT TESTED: the units. Install systemd")
@pytest.mark.parametrize("file", UNITS, ids=lambda file: file.stem)
def test_systemd_understands_the_units_and_finds_little_open(tmp_path, file):
    program = tmp_path / "thoughtline"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    unit = tmp_path / file.name.replace("@", "@8001")
    unit.write_text(file.read_text().replace("/opt/thoughtline/bin/thoughtline", str(program)))
    environment = {"PATH": os.environ["PATH"]}
    for command in (
        ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", str(unit)],
        [
            "systemd-analyze",
            "security",
            "--offline=yes",
            "--no-pager",
            f"--threshold={EXPOSURE_IN_TENTHS}",
            str(unit),
        ],
    ):
        ended = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert ended.returncode == 0, ended.stdout + ended.stderr
