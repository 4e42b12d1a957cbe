"""`manage.py prove_replay` against the fake providers: what it asks, what it says, and how it ends."""

from __future__ import annotations

import signal
import subprocess
from typing import Any

import pytest

from chatapp.management.proving import Proof, ReplayVerdict
from chatapp.management.remainders import ASKED, EDITED
from chatapp.tools import TOOLS
from tests.support.patience import PATIENCE
from tests.support.providers import LINES, Line, catalog_for
from tests.support.shell import ROOT, Shell
from tests.support.stage import play, stage

SECRET = 4711
CALL = {"tool": {"name": "clock", "args": {}}}
OPENAI, ANTHROPIC, DEEPSEEK = LINES[:3]
GROQ = Line("compatible", "chat", "@groq")


def told(number: int) -> str:
    return ", ".join(f"{divisor}={number % divisor}" for divisor in ASKED + EDITED)


def playing(**changes: Any) -> dict[str, Any]:
    """Hides its number, calls, and tells the remainders: right for each question that is asked of it."""
    thought = {"reasoning": {"summary": f"My number is {SECRET}.", **changes.pop("thought", {})}}
    ready, last = changes.pop("ready", "ready"), changes.pop("last", {"items": [{"text": told(SECRET)}]})
    return {
        "turns": [
            {"items": [thought, CALL]},
            {"items": [{"reasoning": {"summary": "I keep it."}}, {"text": ready}]},
            {"items": [{"reasoning": {"summary": "Remainders of it."}}, CALL], **changes},
            last,
        ]
    }


@pytest.fixture(scope="module")
def shell(tmp_path_factory) -> Shell:
    return Shell(tmp_path_factory.mktemp("prove"))


def prove(shell: Shell, up: Any, line: Line, *more: str, name: str = "mine-proof", **scenario: Any):
    up.add(name, playing(**scenario))
    return shell.run("prove_replay", "--model", line.model(name), *more, **surroundings(up))


def surroundings(up: Any) -> dict[str, str]:
    return {
        "OPENAI_API_KEY": "sk-org-test",
        "OPENAI_BASE_URL": up.url,
        "ANTHROPIC_API_KEY": "sk-org-test",
        "ANTHROPIC_BASE_URL": up.root,
        "DEEPSEEK_API_KEY": "sk-org-test",
        "DEEPSEEK_BASE_URL": up.root,
        "COMPATIBLE_API_KEY": "sk-org-test",
        "COMPATIBLE_BASE_URL": up.url,
        "PUBLIC_URL": "https://chat.example.org",
    }


@pytest.mark.parametrize("line", [OPENAI, ANTHROPIC, DEEPSEEK], ids=str)
def test_a_model_that_gets_its_thoughts_back_is_said_to_carry_them(shell, up, line: Line):
    ended = prove(shell, up, line)
    *lines, verdict, place = ended.stdout.splitlines()
    assert (ended.returncode, ended.stderr) == (0, "")
    assert lines == [
        "It hides a number.",
        "  Request 1: no thought went back.",
        "  Request 2: 1 thought went back.",
        "It is asked for remainders.",
        "  Request 1: 2 thoughts went back.",
        "  Request 2: 3 thoughts went back.",
        "The question is edited.",
        "  Request 1: 2 thoughts went back.",
        "  Request 2: 3 thoughts went back.",
        "The edited question is asked again.",
        "  Request 1: 2 thoughts went back.",
        "  Request 2: 3 thoughts went back.",
        f"All thoughts went back, and one number lies behind all answers: {SECRET}.",
    ]
    assert verdict == "Verdict: carried."
    assert place.startswith("The conversation: https://chat.example.org/c/")
    requests = up.requests("mine-proof")
    assert [(each["status"], each["notes"]) for each in requests] == [(200, [])] * 8
    assert not [each for each in requests if str(SECRET) in said_by_people(each["body"])]
    assert shell.run("verify_log").returncode == 0


def said_by_people(body: dict[str, Any]) -> str:
    entries = body.get("input", body.get("messages"))
    return str([entry for entry in entries if entry.get("role") in ("user", "system")])


def test_a_model_that_takes_no_thoughts_is_said_not_to_carry_them_and_nothing_is_left(shell, up):
    ended = prove(shell, up, GROQ, "--remove")
    assert (ended.returncode, ended.stderr) == (1, "")
    assert "  Request 1: no thought went back, 2 thoughts left out (forbidden)." in ended.stdout
    assert ended.stdout.splitlines()[-3:] == [
        "Not all thoughts went back with every request. The answers agree.",
        "Verdict: not carried.",
        "The conversation is deleted.",
    ]


def test_a_provider_that_fails_is_quoted_and_nothing_is_concluded(shell, up):
    ended = prove(shell, up, ANTHROPIC, name="mine-proof-fails", faults=[{"kind": "http", "status": 401}])
    assert (ended.returncode, ended.stderr) == (2, "")
    sentence, verdict, place = ended.stdout.splitlines()[-3:]
    assert sentence.endswith(".")
    assert "key" in sentence
    assert (verdict, place[:18]) == ("Verdict: cannot tell.", "The conversation: ")
    assert "sk-org-test" not in ended.stdout


@pytest.mark.parametrize(
    ("model", "words"),
    [("nobody:x", "which is not configured"), ("nonsense", "names no model")],
)
def test_a_model_that_is_not_there_is_named_in_one_sentence(shell, model: str, words: str):
    ended = shell.run("prove_replay", "--model", model)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert words in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1


def test_ctrl_c_stops_what_runs_and_says_where_it_is_left(shell, up):
    up.add("mine-proof-slow", {"turns": [{"items": [{"text": "slowly " * 200}], "speed": {"tps": 5}}]})
    process = subprocess.Popen(
        shell.command("prove_replay", "--model", OPENAI.model("mine-proof-slow")),
        cwd=ROOT,
        env=shell.environment | surroundings(up),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A job in the background ignores Ctrl-C, and so would what it starts.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdout
    assert process.stdout.readline() == "It hides a number.\n"
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=PATIENCE)
    assert (process.returncode, errors) == (130, "")
    assert out.startswith("The conversation: https://chat.example.org/c/")
    conversation = out.rstrip("/\n").rpartition("/")[2]
    gone_on = shell.lines("Are you still there?", "--conversation", conversation, "--model", "demo:thinker")
    assert gone_on[-1]["status"] == "complete"


OTHERWISE = {
    "a thought that went stale": (
        OPENAI,
        {"thought": {"stale": True}},
        ReplayVerdict.NOT_CARRIED,
        "Not all thoughts went back with every request. The answers agree.",
    ),
    "other numbers behind the answers": (
        ANTHROPIC,
        {"last": {"attempts": [{"items": [{"text": told(number)}]} for number in (4711, 4711, 4712)]}},
        ReplayVerdict.NOT_CARRIED,
        "All thoughts went back, but the answers do not come from one number.",
    ),
    "a number said in the open": (
        DEEPSEEK,
        {"ready": f"Ready, it is {SECRET}."},
        ReplayVerdict.CANNOT_TELL,
        f"The number {SECRET} was said in the open, so that it proves nothing.",
    ),
    "an answer of other words": (
        OPENAI,
        {"last": {"items": [{"text": "I would rather not."}]}},
        ReplayVerdict.CANNOT_TELL,
        "An answer does not tell the remainders it was asked for.",
    ),
    "no thoughts back and an answer of other words": (
        GROQ,
        {"last": {"items": [{"text": "Which number?"}]}},
        ReplayVerdict.NOT_CARRIED,
        "Not all thoughts went back with every request. The answers do not agree.",
    ),
    "no thoughts at all": (
        Line("compatible", "chat", "@openai"),
        {},
        ReplayVerdict.CANNOT_TELL,
        "It sent no thought that could go back.",
    ),
}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("what", OTHERWISE)
def test_other_findings_are_told_apart(up, tmp_path, what: str):
    line, scenario, wanted, why = OTHERWISE[what]
    up.add("mine-proof-otherwise", playing(**scenario))
    lines: list[str] = []

    async def story():
        async with stage(catalog_for(up), tmp_path, tools=TOOLS) as on:
            proof = Proof(
                on.engine,
                model=line.model("mine-proof-otherwise"),
                effort="",
                author=on.conversation.owner,
                tell=lines.append,
            )
            assert await proof.run() is wanted
            assert lines[-2:] == [why, f"Verdict: {wanted}."]

    play(story())
