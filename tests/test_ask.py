"""`manage.py ask`: a real turn in a process of its own, for people and for scripts."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

ROOT = Path(__file__).resolve().parents[1]
PATIENCE = 60


class Shell:
    """Commands of manage.py on a database of their own."""

    def __init__(self, folder: Path) -> None:
        kept = {
            name: value for name, value in os.environ.items() if not name.endswith(("_API_KEY", "_BASE_URL"))
        }
        self.environment = kept | {
            "DATA_DIR": str(folder),
            "LOCAL_MODEL": "0",
            "DJANGO_SETTINGS_MODULE": "chatapp.settings",
        }
        self.environment.pop("DATABASE_URL", None)

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "manage.py", *words]

    def run(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*words),
            cwd=ROOT,
            env=self.environment | environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )

    def lines(self, *words: str) -> list[dict]:
        ended = self.run("ask", *words, "--json")
        assert ended.returncode == 0, ended.stderr
        return [json.loads(line) for line in ended.stdout.splitlines()]


@pytest.fixture(scope="module")
def shell(tmp_path_factory) -> Shell:
    shell = Shell(tmp_path_factory.mktemp("ask"))
    assert shell.run("migrate").returncode == 0
    return shell


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
def terminal(shell) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """The command as somebody sees it at a terminal."""
    ours, theirs = pty.openpty()
    words = shell.command("ask", "Tell me about branches", "--effort", "high")
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
