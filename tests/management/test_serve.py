"""`manage.py serve`: what it refuses, what it says, and what it does before anybody comes."""

from __future__ import annotations

import json
import re
import socket
import sqlite3
import subprocess
from contextlib import closing
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest

from tests.browser.served import serving, with_tables
from tests.support.patience import PATIENCE
from tests.support.shell import ROOT, Shell


def free_port() -> str:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return str(listening.getsockname()[1])


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--host", ""), "--host is empty"),
        (("--port", "0"), "0 is no port"),
        (("--port", "65536"), "65536 is no port"),
        (("--host", "192.0.2.1"), "192.0.2.1 is no address of this machine."),
    ],
)
def test_what_cannot_be_listened_to_is_told_in_one_sentence(tmp_path, words, sentence):
    ended = Shell(tmp_path).run("serve", *words)
    assert ended.returncode == 1
    assert ended.stderr.startswith(sentence)
    assert len(ended.stderr.splitlines()) == 1


def said_at_the_start(shell, *words, **environment):
    command = shell.command("serve", "--port", free_port(), *words)
    with subprocess.Popen(
        command, cwd=ROOT, env=shell.environment | environment, stdout=subprocess.PIPE, text=True
    ) as process:
        said = []
        while not said or not said[-1].startswith("Data is kept in"):
            said.append(process.stdout.readline())
            assert said[-1], said
        process.terminate()
    return "".join(said)


def test_who_may_create_the_first_account_is_said_with_a_code_that_stays(tmp_path):
    shell, codes = Shell(with_tables(tmp_path)), set()
    for signup_open in ("0", "1"):
        said = said_at_the_start(shell, SIGNUP_OPEN=signup_open)
        assert "Create the first account there" in said
        codes.add(re.search(r"takes this code: (\S+)\n", said)[1])
    assert len(codes) == 1


def test_where_there_is_an_account_no_code_is_said(tmp_path):
    shell = Shell(with_tables(tmp_path))
    made = shell.run(
        "createsuperuser", "--no-input", "--username=admin", "--email=", DJANGO_SUPERUSER_PASSWORD="x"
    )
    assert made.returncode == 0, made.stderr
    said = said_at_the_start(shell)
    assert "first account" not in said and "code" not in said


@pytest.mark.parametrize("has_account", [False, True])
def test_it_starts_while_somebody_else_writes_to_the_database(tmp_path, has_account):
    shell = Shell(with_tables(tmp_path))
    if has_account:
        made = shell.run(
            "createsuperuser", "--no-input", "--username=admin", "--email=", DJANGO_SUPERUSER_PASSWORD="x"
        )
        assert made.returncode == 0, made.stderr
    before = said_at_the_start(shell)
    with closing(sqlite3.connect(tmp_path / "thoughtline.sqlite3", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        during = said_at_the_start(shell)
    assert before.splitlines()[1:] == during.splitlines()[1:]


def test_tables_that_cannot_be_brought_up_to_date_are_told_in_one_sentence(tmp_path):
    """Somebody else's table has the name of one of ours."""
    with closing(sqlite3.connect(tmp_path / "thoughtline.sqlite3")) as database:
        database.execute("CREATE TABLE chatapp_conversation (id)")
    ended = Shell(tmp_path).run("serve", "--port", free_port())
    assert ended.returncode == 1
    assert ended.stderr.startswith("The tables cannot be brought up to date: ")
    assert "already exists" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


def test_listening_everywhere_names_the_setting_that_lets_others_in(tmp_path):
    said = said_at_the_start(Shell(tmp_path), "--host", "0.0.0.0")
    assert "Other machines reach it only by a name or address that ALLOWED_HOSTS lists." in said


def test_a_turn_that_a_dead_process_left_goes_on_before_anybody_comes(tmp_path):
    shell = Shell(tmp_path)
    asking = subprocess.Popen(
        shell.command("ask", "Tell me about branches", "--json"),
        cwd=ROOT,
        env=shell.environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    with asking:
        message = json.loads(asking.stdout.readline())["message"]
        asking.kill()
    serving = subprocess.Popen(
        shell.command("serve", "--port", free_port()),
        cwd=ROOT,
        env=shell.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    with serving:
        first = serving.stderr.readline()
        serving.terminate()
        serving.wait(PATIENCE)
    assert message in first
    assert "is taken over" in first


def test_a_reader_that_is_slow_gets_everything_in_its_order(tmp_path):
    lines = "\n".join(map(str, range(200_000)))
    with serving(with_tables(tmp_path), {}) as served:
        name, session = served.person()
        served.clerk("conversation", owner=name, turns=1, says=[lines])
        page = read(served, session, "")
        place = re.search(r'href="/(c/[^"]*/)"', page)[1]
        answer = re.findall(r'data-message-id="([^"]*)"', read(served, session, place))[-1]
        with socket.socket() as slow:
            slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            slow.connect(("127.0.0.1", urlsplit(served.url).port))
            slow.sendall(asked(served, session, f"m/{answer}/copy/"))
            said = b"".join(iter(lambda: slow.recv(10_000), b""))
    assert said.decode().endswith(lines)


def asked(served, session, path):
    host = urlsplit(served.url).netloc
    return f"GET /{path} HTTP/1.1\r\nHost: {host}\r\nCookie: sessionid={session}\r\nConnection: close\r\n\r\n".encode()


def read(served, session, path):
    request = Request(served.url + path, headers={"Cookie": f"sessionid={session}"})
    with urlopen(request, timeout=PATIENCE) as answer:
        return answer.read().decode()
