"""The life of the local model's process, with real processes; and the real model, where its packages are installed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from chatapp.providers import local as local_model
from chatapp.providers.local import LocalModel, ProcessState, install
from chatapp.providers.local.files import ProcessNote, RunFiles
from chatapp.providers.local.holder import Holder, answers, is_ours
from tests.support.patience import PATIENCE

STAND_IN = Path(__file__).with_name("stand_in.py")


def stand_in(version: str = "1", grace: float = 60, behaviour: str = "good") -> list[str]:
    return [sys.executable, str(STAND_IN), version, str(grace), behaviour]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    clear(tmp_path)


def end(folder: Path) -> None:
    """Kills the folder's model process, if it has one, and waits until it is gone."""
    files = RunFiles(folder)
    note = files.read()
    if note is None:
        return
    with suppress(ProcessLookupError):
        if is_ours(note.pid, files.data_dir):
            os.kill(note.pid, signal.SIGKILL)
    wait_until(lambda: not is_ours(note.pid, files.data_dir))


def clear(folder: Path) -> None:
    """Ends what is left in this folder. A process that is only about to start finds nothing to start in."""
    end(folder)
    shutil.rmtree(folder, ignore_errors=True)


def wait_until(holds: Callable[[], bool], seconds: float = PATIENCE) -> None:
    late = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < late, "waited too long"
        time.sleep(0.01)


def settled(folder: Path) -> LocalModel:
    wait_until(lambda: local_model.model_state(folder).state in (ProcessState.READY, ProcessState.FAILED))
    return local_model.model_state(folder)


def note(folder: Path) -> ProcessNote:
    found = RunFiles(folder).read()
    assert found is not None
    return found


def ready(folder: Path, command: list[str]) -> ProcessNote:
    local_model.start_beside(folder, command)
    assert settled(folder).state is ProcessState.READY
    return note(folder)


def look_again(folder: Path, command: list[str]) -> None:
    """What a second start's process does, seen to its end."""
    subprocess.run([*command, "--data-dir", str(folder.resolve())], timeout=PATIENCE, check=True)


def test_nothing_is_said_to_run_before_a_start(folder: Path):
    assert local_model.model_state(folder) == LocalModel(
        state=ProcessState.ABSENT, sentence="The local model is not running."
    )


def test_a_start_returns_at_once_and_the_model_gets_ready(folder: Path):
    began = time.monotonic()
    local_model.start_beside(folder, stand_in())
    returned = time.monotonic() - began
    assert local_model.model_state(folder).state in (
        ProcessState.LOADING,
        ProcessState.INSTALLING,
        ProcessState.READY,
    )
    found = settled(folder)
    assert returned < (time.monotonic() - began) / 2
    assert found.sentence == "The local model is ready."
    answer = httpx.get(
        f"{found.base_url}/models", headers={"Authorization": f"Bearer {found.key}"}, trust_env=False
    )
    assert answer.json()["data"][0]["tags"] == [note(folder).id]


def test_the_note_with_the_key_is_for_nobody_else_and_the_key_is_not_shown(folder: Path):
    key = ready(folder, stand_in()).key
    assert (folder / "run" / "local-model.json").stat().st_mode & 0o077 == 0
    assert (folder / "run").stat().st_mode & 0o077 == 0
    assert key and key not in repr(note(folder)) and key not in repr(local_model.model_state(folder))


def test_a_second_start_keeps_the_process_that_serves(folder: Path):
    first = ready(folder, stand_in())
    local_model.start_beside(folder, stand_in())
    look_again(folder, stand_in())
    assert note(folder) == first and answers(first)


def test_many_starts_at_once_make_one_process(folder: Path):
    for _ in range(5):
        local_model.start_beside(folder, stand_in())
    settled(folder)
    look_again(folder, stand_in())
    assert answers(note(folder))


def test_a_process_of_another_version_is_replaced(folder: Path):
    old = ready(folder, stand_in("1"))
    local_model.start_beside(folder, stand_in("2"))
    wait_until(lambda: note(folder).version == "2" and settled(folder).state is ProcessState.READY)
    assert answers(note(folder)) and not answers(old)
    wait_until(lambda: not is_ours(old.pid, folder.resolve()))


def test_a_process_that_does_not_answer_is_replaced(folder: Path):
    old = ready(folder, stand_in(behaviour="deaf"))
    local_model.start_beside(folder, stand_in())
    wait_until(lambda: note(folder).pid != old.pid and settled(folder).state is ProcessState.READY)
    assert answers(note(folder))


def test_a_process_that_does_not_want_to_end_is_killed(folder: Path):
    old = ready(folder, stand_in(behaviour="stubborn"))
    place = Holder(RunFiles(folder), "2", end_within=0.2).replaced()
    assert place is not None
    place.close()
    wait_until(lambda: not is_ours(old.pid, folder.resolve()))


def test_after_a_kill_it_is_said_to_have_ended_and_a_start_brings_it_back(folder: Path):
    old = ready(folder, stand_in())
    end(folder)
    wait_until(lambda: local_model.model_state(folder).state is not ProcessState.READY)
    found = local_model.model_state(folder)
    assert (found.state, found.base_url) == (ProcessState.FAILED, "") and "has ended" in found.sentence
    assert ready(folder, stand_in()).pid != old.pid


@pytest.fixture
def stranger() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process
        process.kill()


def stale_note(**more: Any) -> ProcessNote:
    return ProcessNote(
        **(
            {"state": ProcessState.READY, "sentence": "", "port": 9, "version": "0", "id": "a", "key": "b"}
            | more
        )
    )


def test_a_stranger_with_the_old_number_is_left_alone_at_a_start(
    folder: Path, stranger: subprocess.Popen[bytes]
):
    RunFiles(folder).make()
    RunFiles(folder).write(stale_note(pid=stranger.pid))
    assert local_model.model_state(folder).state is ProcessState.FAILED
    assert ready(folder, stand_in()).pid != stranger.pid
    assert stranger.poll() is None


def test_a_stranger_is_left_alone_even_when_the_place_is_taken(
    folder: Path, stranger: subprocess.Popen[bytes]
):
    files = RunFiles(folder)
    files.make()
    files.write(stale_note(pid=stranger.pid))
    with files.take_place() or pytest.fail("the place is free"):
        assert Holder(files, "1", end_within=0.1).replaced() is None
    assert stranger.poll() is None


def test_the_model_process_of_another_folder_is_left_alone(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
):
    other = tmp_path_factory.mktemp("other")
    try:
        theirs = ready(other, stand_in())
        RunFiles(folder).make()
        RunFiles(folder).write(stale_note(pid=theirs.pid, port=theirs.port))
        ours = ready(folder, stand_in("2"))
        assert answers(ours) and answers(theirs) and ours.port != theirs.port
        assert not is_ours(theirs.pid, folder.resolve())
    finally:
        clear(other)


def test_a_stranger_at_the_old_port_is_not_taken_for_the_model(folder: Path):
    ours = ready(folder, stand_in())
    assert not answers(stale_note(port=ours.port, key=ours.key, id="another"))
    assert not answers(stale_note(port=ours.port, key=ours.key, id=""))
    assert not answers(stale_note(port=ours.port, key="wrong", id=ours.id))


@pytest.mark.parametrize(
    ("behaviour", "sentence"),
    [
        ("cannot-install", "The local model could not be installed: no index."),
        ("cannot-load", "The local model could not start: its file is broken"),
    ],
)
def test_a_failure_says_why_and_the_next_start_tries_again(folder: Path, behaviour: str, sentence: str):
    local_model.start_beside(folder, stand_in(behaviour=behaviour))
    assert settled(folder) == LocalModel(state=ProcessState.FAILED, sentence=sentence)
    wait_until(lambda: not RunFiles(folder).place_is_taken())
    ready(folder, stand_in())


def test_it_ends_by_itself_when_the_last_process_that_needs_it_is_gone(folder: Path):
    starter = "import sys; from pathlib import Path; from chatapp.providers import local as local_model;"
    starter += "local_model.start_beside(Path(sys.argv[1]), sys.argv[2:])"
    command = [sys.executable, "-c", starter, str(folder), *stand_in(grace=0.1)]
    subprocess.run(command, cwd=STAND_IN.parents[3], check=True, timeout=20)
    files = RunFiles(folder)
    wait_until(lambda: (found := files.read()) is not None and found.state is ProcessState.READY)
    wait_until(lambda: not files.place_is_taken())


def test_whoever_asks_for_its_state_needs_it(folder: Path):
    files = RunFiles(folder)
    files.make()
    assert not files.in_use()
    local_model.model_state(folder)
    assert files.in_use()


def test_it_ends_when_its_folder_is_gone(folder: Path):
    pid = ready(folder, stand_in()).pid
    (folder / "run").rename(folder / "elsewhere")
    wait_until(lambda: not is_ours(pid, folder.resolve()))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "[" * 100_000,
        '{"state": "ready"}',
        '{"state": "asleep", "sentence": ""}',
        '{"state": "ready", "sentence": 1}',
        '{"state": "ready", "sentence": "", "port": 65536}',
        '{"state": "ready", "sentence": "", "port": "80"}',
        '{"state": "ready", "sentence": "", "pid": null}',
        '{"state": "ready", "sentence": "", "more": 1}',
        "\ud800",
    ],
)
def test_a_note_that_cannot_be_read_is_no_note(folder: Path, text: str):
    files = RunFiles(folder)
    files.make()
    files.note.write_bytes(text.encode(errors="surrogatepass"))
    assert local_model.model_state(folder).state is ProcessState.ABSENT


@pytest.mark.parametrize("pid", [-1, 0, 1, 2**31, 10**30])
def test_no_number_that_cannot_be_ours_is_taken_for_ours(pid: int):
    assert not is_ours(pid, Path("/nowhere"))


def test_packages_that_are_there_in_their_version_are_not_missing(tmp_path: Path):
    requirements = tmp_path / "requirements.txt"
    requirements.write_text(f"pytest=={pytest.__version__} \\\n    --hash=sha256:00\n# xyz==1\n")
    assert install.missing(requirements) == []
    install.ensure(requirements)
    requirements.write_text("pytest==0.0.1\nno-such-package-here==1.0\n")
    assert install.missing(requirements) == ["pytest", "no-such-package-here"]


def test_an_installation_that_fails_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name, value in {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "", "PIP_CONFIG_FILE": os.devnull}.items():
        monkeypatch.setenv(name, value)
    requirements = tmp_path / "requirements.txt"
    requirements.write_text(f"no-such-package-here==1.0 --hash=sha256:{'0' * 64}\n")
    with pytest.raises(
        install.CannotInstall, match=r"^The local model could not be installed: .*no-such-package-here"
    ):
        install.ensure(requirements)


def test_the_requirements_are_pinned_with_hashes():
    lines = install.REQUIREMENTS.read_text().replace("\\\n", " ").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert len(pins) == 2
    assert all("==" in pin and "--hash=sha256:" in pin for pin in pins)


real_model = pytest.mark.skipif(
    bool(install.missing()), reason="the local model's packages are missing: see requirements/local-model.txt"
)


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalModel]:
    folder = tmp_path_factory.mktemp("real")
    local_model.start_beside(folder)
    found = settled(folder)
    assert found.state is ProcessState.READY, found.sentence
    yield found
    clear(folder)


def stream(real: LocalModel, path: str, **body: Any) -> list[dict[str, Any]]:
    request = {"model": local_model.NAME, "stream": True} | body
    headers = {"Authorization": f"Bearer {real.key}"}
    with httpx.Client(timeout=60, trust_env=False) as client:
        answer = client.post(real.base_url + path, json=request, headers=headers)
    assert answer.status_code == 200, answer.text
    lines = [
        line[6:] for line in answer.text.splitlines() if line.startswith("data: ") and line != "data: [DONE]"
    ]
    return [json.loads(line) for line in lines]


QUESTION = {"role": "user", "content": "Why is the sky blue?"}


@real_model
def test_it_thinks_and_answers_over_chat_completions(real: LocalModel):
    events = stream(real, "/chat/completions", messages=[QUESTION])
    deltas = [choice["delta"] for event in events for choice in event["choices"]]
    thoughts = [n for n, delta in enumerate(deltas) if delta.get("reasoning_content")]
    words = [n for n, delta in enumerate(deltas) if delta.get("content")]
    assert len(thoughts) > 5 and words and thoughts[-1] < words[0]
    text = "".join(delta.get("reasoning_content") or delta.get("content") or "" for delta in deltas)
    assert "think>" not in text


@real_model
def test_it_thinks_and_answers_over_responses(real: LocalModel):
    events = stream(
        real, "/responses", input=[QUESTION], store=False, include=["reasoning.encrypted_content"]
    )
    items = [event["item"] for event in events if event["type"] == "response.output_item.done"]
    assert [item["type"] for item in items] == ["reasoning", "message"]
    assert all(item["content"][0]["text"].strip() for item in items)
    assert events[-1]["type"] == "response.completed"


@real_model
def test_it_thinks_and_answers_over_messages(real: LocalModel):
    thinking = {"type": "enabled", "budget_tokens": 1024}
    events = stream(real, "/messages", messages=[QUESTION], max_tokens=700, thinking=thinking)
    deltas = [event["delta"]["type"] for event in events if event["type"] == "content_block_delta"]
    assert deltas.index("text_delta") > deltas.index("thinking_delta")
    assert events[-1]["type"] == "message_stop"


@real_model
@pytest.mark.parametrize(
    "messages",
    [
        [{"role": "system", "content": "Be brief."}, QUESTION],
        [QUESTION, {"role": "assistant", "content": "Air.", "reasoning_content": "Hm."}, QUESTION],
        [{"role": "user", "content": "<|im_end|> </think> <think> \U0001f600 \u0000"}],
        [{"role": "user", "content": [{"type": "text", "text": "Hello"}]}],
    ],
)
def test_it_takes_any_conversation(real: LocalModel, messages: list[dict[str, Any]]):
    choices = [
        choice
        for event in stream(real, "/chat/completions", messages=messages, max_tokens=320, seed=1)
        for choice in event["choices"]
    ]
    assert any(choice["delta"].get("content") for choice in choices)
    assert choices[-1]["finish_reason"] in ("stop", "length")


@real_model
def test_an_answer_has_an_end_also_when_a_long_one_is_asked_for(real: LocalModel):
    long = {"role": "user", "content": "Write a story of ten thousand words."}
    options = {"include_usage": True}
    events = stream(real, "/chat/completions", messages=[long], stream_options=options)
    assert events[-1]["usage"]["completion_tokens"] <= 450


@real_model
def test_only_who_knows_the_key_may_ask(real: LocalModel):
    answer = httpx.post(f"{real.base_url}/chat/completions", json={"messages": [QUESTION]}, trust_env=False)
    assert answer.status_code == 401


@real_model
def test_it_listens_on_one_loopback_address_only(real: LocalModel):
    url = httpx.URL(real.base_url)
    assert url.host == "127.0.0.1"
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.2", url.port or 0), timeout=1)
