"""`manage.py ask`: a real turn in a process of its own, for people and for scripts."""

from __future__ import annotations

import json
import os
import pty
import resource
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.support.patience import PATIENCE
from tests.support.shell import ROOT, Shell


@pytest.fixture(scope="module")
def shell(tmp_path_factory) -> Shell:
    """Nothing was ever started here: the commands make what they need."""
    return Shell(tmp_path_factory.mktemp("ask"))


@pytest.fixture(scope="module")
def first(shell) -> list[dict]:
    return shell.lines("What is 12 * 13?", "--model", "demo:thinker", "--effort", "low")


def test_a_script_gets_every_event_of_the_turn_one_a_line(first):
    begin, *events, end = first
    assert [event["n"] for event in events] == list(range(1, len(events) + 1))
    assert begin["model"] == "demo:thinker"
    assert {"asked", "item_started", "item_delta", "item_done", "items_stored", "turn_ended"} <= {
        event["event"] for event in events
    }
    assert (end["event"], end["status"]) == ("ended", "complete")
    thoughts = [
        event["key"] for event in events if event.get("kind") == "reasoning" and event["event"] == "item_done"
    ]
    assert thoughts == list(end["metadata"]["reasoning_durations_ms"])
    assert "wire" not in json.dumps(events)


def test_when_the_reader_of_the_pipe_leaves_the_turn_is_stopped_without_a_traceback(shell):
    words = shell.command("ask", "Tell me about branches", "--json")
    process = subprocess.Popen(
        words, cwd=ROOT, env=shell.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout and process.stderr
    assert json.loads(process.stdout.readline())["event"] == "turn"
    process.stdout.close()
    assert process.wait(PATIENCE) == 141
    assert process.stderr.read() == ""
    process.stderr.close()


def test_people_get_thoughts_text_and_how_long_it_thought_without_colours_in_a_pipe(shell):
    ended = shell.run("ask", "What is 12 * 13?", "--effort", "low")
    assert ended.returncode == 0
    assert "Thought for " in ended.stdout
    assert "156" in ended.stdout
    assert "\x1b" not in ended.stdout


def test_a_conversation_goes_on_at_its_head_or_at_the_answer_that_is_named(shell, first):
    conversation, answer = first[0]["conversation"], first[0]["message"]
    second = shell.lines("Hello", "--conversation", conversation, "--effort", "off")
    third = shell.lines("Hello again", "--at", answer, "--effort", "off")
    assert {second[0]["conversation"], third[0]["conversation"]} == {conversation}
    assert second[0]["message"] != third[0]["message"]
    assert shell.run("verify_log").returncode == 0


MISTAKES = [
    (("",), "Write a question first."),
    (("Hi", "--model", "nobody:x"), "which is not configured"),
    (("Hi", "--model", "nonsense"), "names no model"),
    (("Hi", "--model", "demo:nope"), "There is no model 'demo:nope'"),
    (("Hi", "--effort", "wild"), "does not know the effort"),
    (("Hi", "--user", "nobody"), "no account named nobody"),
    (("Hi", "--conversation", "00000000-0000-0000-0000-000000000000"), "There is no conversation"),
    (("Hi", "--at", "00000000-0000-0000-0000-000000000000"), "There is no message"),
]


@pytest.mark.parametrize(("words", "sentence"), MISTAKES)
def test_a_mistake_gets_one_sentence(shell, words, sentence):
    ended = shell.run("ask", *words)
    assert ended.returncode != 0
    assert sentence in ended.stderr
    assert "Traceback" not in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1


def test_the_store_can_be_proved_before_anything_was_started(tmp_path):
    ended = Shell(tmp_path).run("verify_log")
    assert (ended.returncode, ended.stdout) == (0, "The log is whole.\n")


def test_what_is_kept_is_its_owners_alone(shell, first):
    files = [file for file in Path(shell.environment["DATA_DIR"]).iterdir() if file.is_file()]
    assert "thoughtline.sqlite3" in [file.name for file in files]
    assert {file.stat().st_mode & 0o077 for file in files} == {0}


def test_the_first_account_goes_on_with_what_was_asked_before_it(tmp_path):
    shell = Shell(tmp_path)
    conversation = shell.lines("Hello", "--effort", "off")[0]["conversation"]
    sign_up = (
        "from django.contrib.auth.models import User; from chatapp.accounts.store import accounts;"
        "accounts.start_account(User(username='alice', password='set'), by_owner=True)"
    )
    assert shell.run("shell", "-c", sign_up).returncode == 0
    again = shell.lines("Hello again", "--conversation", conversation, "--effort", "off")
    assert again[0]["conversation"] == conversation


@pytest.mark.parametrize("command", [("ask", "Hi"), ("verify_log",)])
def test_without_a_database_there_is_one_sentence(tmp_path, command):
    (tmp_path / "thoughtline.sqlite3").mkdir()
    ended = Shell(tmp_path).run(*command)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith("The database cannot be used: ")
    assert len(ended.stderr.splitlines()) == 1


def test_while_the_database_is_locked_a_question_ends_with_a_sentence_in_seconds(shell, first):
    file = Path(shell.environment["DATA_DIR"]) / "thoughtline.sqlite3"
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        ended = shell.run("ask", "Hi")
    assert ended.returncode == 1
    assert ended.stderr.endswith("The database cannot be used: database is locked\n")
    assert "Traceback" not in ended.stderr


def test_when_nothing_more_can_be_written_the_command_ends_with_a_sentence(shell, first):
    """A file that may not grow is how a full disk looks from inside."""
    process = subprocess.Popen(
        shell.command("ask", "Tell me about branches", "--json"),
        cwd=ROOT,
        env=shell.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    assert json.loads(process.stdout.readline())["event"] == "turn"
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (1, 1))
    _, told = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert "Traceback" not in told
    assert "left unfinished" in told or "cannot be used" in told


def test_ctrl_c_before_there_is_a_turn_ends_it_without_a_traceback(shell):
    early = (
        "import os, signal, manage, django.core.management as django;"
        "signal.signal(signal.SIGINT, signal.default_int_handler);"  # a job in the background ignores it
        "django.execute_from_command_line = lambda words: os.kill(os.getpid(), signal.SIGINT);"
        "manage.main()"
    )
    ended = subprocess.run(
        [sys.executable, "-c", early], cwd=ROOT, env=shell.environment, capture_output=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (130, b"")


class Refusing(BaseHTTPRequestHandler):
    """A provider that knows no key."""

    def do_POST(self) -> None:
        body = b'{"error": {"message": "Incorrect API key provided."}}'
        self.send_response(401)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def test_a_provider_that_refuses_ends_in_a_sentence_and_a_code(shell):
    with ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/v1"
        ended = shell.run("ask", "Hi", "--model", "openai:x", OPENAI_API_KEY="sk-canary", OPENAI_BASE_URL=url)
        server.shutdown()
    assert ended.returncode == 1
    assert "OpenAI did not accept the API key." in ended.stdout
    assert "canary" not in ended.stdout + ended.stderr


@pytest.fixture
def question() -> str:
    return "Tell me about branches"


@pytest.fixture
def terminal(shell, question) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """The command as somebody sees it at a terminal."""
    ours, theirs = pty.openpty()
    words = shell.command("ask", question, "--effort", "high")
    process = subprocess.Popen(
        words, cwd=ROOT, env=shell.environment, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    yield process, ours
    process.kill()
    process.wait()
    os.close(ours)


def read_until(terminal: int, words: bytes) -> bytes:
    seen = b""
    while words not in seen:
        try:
            seen += os.read(terminal, 4096)
        except OSError:
            raise AssertionError(f"the terminal closed before {words!r}: {seen!r}") from None
    return seen


def test_at_a_terminal_a_clock_runs_and_ctrl_c_stops_the_turn_properly(shell, terminal):
    process, screen = terminal
    assert b"\x1b[2m" in read_until(screen, b"Thinking for 1 s")
    process.send_signal(signal.SIGINT)
    read_until(screen, b"The answer was stopped.")
    assert process.wait(PATIENCE) == 130
    assert shell.run("verify_log").returncode == 0


READ = "Read http://127.0.0.1:1/secret"


@pytest.mark.parametrize("question", [READ])
def test_at_a_terminal_a_call_that_is_not_safe_asks_and_the_answer_goes_on(shell, terminal):
    process, screen = terminal
    assert b'"url": "http://127.0.0.1:1/secret"' in read_until(screen, b"[n] no:")
    os.write(screen, b"what?\n")
    read_until(screen, b"[n] no:")
    os.write(screen, b"n\n")
    read_until(screen, b"You did not allow")
    assert process.wait(PATIENCE) == 0
    assert shell.run("verify_log").returncode == 0


@pytest.mark.parametrize("question", ["Read https://g\u043eod.example/"])
def test_at_a_terminal_an_address_that_looks_like_another_is_named_in_plain_letters(shell, terminal):
    process, screen = terminal
    seen = read_until(screen, b"[n] no:").decode()
    assert '"url": "https://g\u043eod.example/"' in seen
    assert "g\u043eod.example is not written in plain letters; its real name is xn--god-sed.example." in seen
    os.write(screen, b"n\n")
    assert process.wait(PATIENCE) == 0


@pytest.mark.parametrize("question", [READ])
def test_a_turn_that_asks_at_a_terminal_can_be_stopped(shell, terminal):
    process, screen = terminal
    read_until(screen, b"[n] no:")
    process.send_signal(signal.SIGINT)
    read_until(screen, b"The answer was stopped.")
    assert process.wait(PATIENCE) == 130
    assert shell.run("verify_log").returncode == 0


def test_where_nobody_can_be_asked_the_answer_waits_and_says_so(shell):
    ended = shell.run("ask", READ)
    assert ended.returncode == 1
    assert "The answer waits for somebody to allow a call." in ended.stdout
