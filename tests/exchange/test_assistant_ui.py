"""What assistant-ui's real packages take from here, and what they give: branches, head and times stay in both directions."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from chatapp import store
from chatapp.core.recorded import Recorded
from tests.gateway.programs.node_clients import node_clients
from tests.support.patience import PATIENCE

from .bringing import came
from .filled import filled, repository_of, told
from .test_others import ASKED, EXAMPLE, ROWS, items, part, rows

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def theirs():
    folder = node_clients("@assistant-ui/core", "assistant-cloud")

    def asked(**given: Any) -> dict[str, Any]:
        environment = {"FOLDER": str(folder), "PATH": os.environ["PATH"]}
        command = ["node", str(HERE / "assistant_ui.mjs")]
        words = json.dumps(given)
        done = subprocess.run(
            command, env=environment, input=words, capture_output=True, text=True, timeout=PATIENCE
        )
        assert done.returncode == 0, done.stderr
        said: dict[str, Any] = json.loads(done.stdout)
        return said

    return asked


def durations(repository: dict[str, Any]) -> dict[str, Any]:
    customs = {
        each["message"]["id"]: each["message"]["metadata"]["custom"] for each in repository["messages"]
    }
    return {id: custom.get("reasoningDurations") for id, custom in customs.items()}


def test_what_goes_out_has_there_the_same_branch_picker_head_and_times(alice, bob, theirs):
    source = filled(alice)
    ours = repository_of(source)
    said = theirs(repository=ours)
    assert (said["path"], said["head"]) == (["m1", "m2", "m3", "m4"], "m4")
    assert said["picker"]["m3"] == ["m3", "m5"]
    assert said["others"] == {"m5": ["m1", "m2", "m5", "m6"]} and said["again"] == said["path"]
    there = said["exported"]
    assert durations(there) == durations(ours) != {}
    assert [row["parentId"] for row in there["messages"]] == [row["parentId"] for row in ours["messages"]]
    shown = [[p["type"] for p in row["message"]["content"]] for row in there["messages"]]
    assert shown == [[p["type"] for p in row["message"]["content"]] for row in ours["messages"]]
    # And from there it comes back here, whole.
    (copy,) = came(bob, json.dumps(there).encode())
    assert told(copy)["messages"] == told(source)["messages"]
    assert list(store.verify_log()) == []


def test_what_stands_in_their_documents_comes_as_they_export_it(alice, theirs):
    there = theirs(repository=EXAMPLE)["exported"]
    (copy,) = came(alice, json.dumps(there).encode())
    first, answer, last, other = rows(copy)
    assert sorted(Recorded(answer.metadata).thoughts.values()) == [2000, 23_000]
    assert (copy.head, last.parent, other.parent) == (other, answer, first)


def test_a_thread_that_they_built_comes_with_its_branches_and_its_head(alice, theirs):
    like = [
        {"parentId": each["parentId"], "message": each["message"]}
        for each in (ASKED, *EXAMPLE["messages"][1:])
    ]
    built = theirs(like={"messages": like, "headId": "u2"})["built"]
    (copy,) = came(alice, json.dumps(built).encode())
    assert copy.messages.count() == 4 and items(copy.head) == [("user_message", "List?")]
    assert sorted(Recorded(copy.head.parent.metadata).thoughts.values()) == [2000, 23_000]
    assert list(store.verify_log()) == []


def test_what_the_adapter_of_the_ai_sdk_stores_comes_with_its_times(alice, theirs):
    ui = [
        {"parentId": row["parent_id"], "message": {"id": row["id"]} | row["content"]}
        for row in (*ROWS, {"id": "z", "parent_id": "a2", "content": ROWS[3]["content"]})
    ]
    said = theirs(ui=ui)
    assert said["decoded"] == ui
    (copy,) = came(alice, json.dumps(said["rows"]).encode())
    answer = rows(copy)[1]
    assert copy.messages.count() == 5 and items(answer)[0] == ("reasoning", "List them.\n\nAll of them.")
    assert sorted(Recorded(answer.metadata).thoughts.values()) == [2000, 23_000]
    assert part("text", text="Ten.", state="done") in said["rows"][1]["content"]["parts"]
    assert list(store.verify_log()) == []
