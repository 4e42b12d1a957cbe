"""A conversation as a file: nothing is left out of our own format, others get what they can take, and nobody gets what is not theirs."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from chatapp.branches.store.forking import Extent
from chatapp.exchange.formats.ours import SCHEMA
from chatapp.exchange.out.as_markdown import Told, as_markdown
from chatapp.exchange.out.chosen import choose
from chatapp.exchange.page.exporting import extents_to_choose
from chatapp.store.models import Item, Message
from tests.support.front import HTMX, house, visitor
from tests.support.stage import play

from .filled import file_of, filled, repository_of, told

pytestmark = pytest.mark.both


@pytest.fixture
def hers(alice):
    return filled(alice)


def markdown(conversation, extent=Extent.EVERYTHING, **more) -> str:
    chosen = choose(conversation, conversation.owner, extent)
    return b"".join(as_markdown(chosen, Told(**more))).decode()


def test_a_file_fits_its_schema(hers):
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(json.loads(file_of(hers)), SCHEMA)


def test_the_schema_is_in_the_documents():
    document = Path(__file__).parents[2] / "docs/thoughtline-1.schema.json"
    assert json.loads(document.read_text()) == SCHEMA


def test_everything_is_in_our_own_file(hers):
    found = told(hers)
    assert (found["title"], found["instructions"]) == ("Clocks & <b>time</b>", "Be brief.")
    assert found["created_at"] == "2026-03-04T05:06:07.890123+00:00"
    assert [each["id"] for each in found["messages"]] == [1, 2, 3, 4, 5, 6]
    assert [each["parent"] for each in found["messages"]] == [None, 1, 2, 3, 2, 5]
    assert found["head"] == 4
    answer = found["messages"][1]
    assert answer["recorded"]["reasoning_durations_ms"] == {"rs_1": 23_456, "rs_2": 11}
    assert answer["recorded"]["timings_ms"]["rs_1"] == {"start": 10, "end": 23_466}
    assert answer["recorded"]["rounds"][0]["usage"] == {"input": 10, "output": 5}
    assert [each["kind"] for each in answer["items"]] == [
        "reasoning",
        "tool_call",
        "tool_result",
        "reasoning",
        "assistant_message",
    ]
    rows = Item.objects.filter(message__conversation=hers).exclude(wire=None)
    wires = [each["wire"] for message in found["messages"] for each in message["items"] if "wire" in each]
    assert sorted(map(str, wires)) == sorted(str(row.wire) for row in rows)
    assert found["messages"][5]["status"] == "stopped" and found["messages"][5]["items"][1]["cut"]


def test_no_id_of_a_row_is_in_a_file(hers, alice):
    text = file_of(hers).decode()
    ids = [hers.pk, *Message.objects.values_list("pk", flat=True)]
    assert not [pk for pk in ids if str(pk) in text or pk.hex in text]
    # Whoever stopped it is nobody's business.
    assert '"by"' not in text


@pytest.mark.parametrize(
    ("extent", "count"), [(Extent.BRANCH, 4), (Extent.WITH_SIDES, 6), (Extent.EVERYTHING, 6)]
)
def test_as_much_goes_out_as_was_chosen(hers, alice, extent, count):
    assert len(told(hers, extent)["messages"]) == count
    (chosen,) = (each for each in extents_to_choose(hers, alice, None) if each.value == extent)
    assert chosen.count.startswith(f"{count} messages")


def test_a_branch_goes_out_up_to_a_message(hers):
    first = Message.objects.get(conversation=hers, order=1)
    assert [each["id"] for each in told(hers, Extent.BRANCH, at=first.pk)["messages"]] == [1, 2]


def test_what_was_deleted_does_not_go_out(hers):
    from chatapp.store import deleting

    deleting.delete_below(Message.objects.get(conversation=hers, order=4))
    assert len(told(hers)["messages"]) == 4


def test_markdown_has_the_words_the_times_and_the_branches_beside(hers):
    text = markdown(hers)
    assert text.startswith("# Clocks & <b>time</b>\n")
    assert "## Question 1\n\nWhat time is it?\n\nIn *Tokyo*.\n" in text
    assert "*openai:gpt-5* · *Thought for 25 seconds in 2 steps*" in text
    assert "> **Thought for 24 seconds**\n>\n> Hm." in text
    assert "# Side branch 1, beside message 2\n\n## Question 2\n\nAnd in Lisbon?" in text
    assert "*Stopped*" in text and "14:05" not in text


def test_thoughts_and_details_of_tools_come_along_by_choice(hers):
    without = markdown(hers, thoughts=False)
    assert "Hm." not in without and "**Thought for 24 seconds**" in without
    whole = markdown(hers, tools=True)
    assert '> ```\n> {"zone":"Asia/Tokyo"}\n> ```\n>\n> ```\n> 14:05\n> ```' in whole


def test_whatever_a_tool_gave_stays_inside_its_fence(hers):
    Item.objects.filter(kind="tool_result").update(text="```\n# Not a heading\n````")
    assert "> `````\n> ```\n> # Not a heading\n> ````\n> `````" in markdown(hers, tools=True)


def test_assistant_ui_gets_parents_first_and_a_leaf_as_head(hers):
    found = repository_of(hers)
    assert [row["parentId"] for row in found["messages"]] == [None, "m1", "m2", "m3", "m2", "m5"]
    assert found["headId"] == "m4"
    answer = found["messages"][1]["message"]
    assert [part["type"] for part in answer["content"]] == ["reasoning", "tool-call", "reasoning", "text"]
    assert answer["content"][0]["providerMetadata"] == {
        "openai": {"itemId": "rs_1", "reasoningEncryptedContent": "gAAA=="}
    }
    assert (
        answer["content"][1]["args"] == {"zone": "Asia/Tokyo"} and answer["content"][1]["result"] == "14:05"
    )
    assert answer["metadata"]["custom"]["reasoningDurations"] == {"rs_1": 24, "rs_2": 1}
    assert answer["status"] == {"type": "complete", "reason": "stop"}
    assert found["messages"][5]["message"]["status"]["type"] == "incomplete"


@pytest.mark.django_db(transaction=True)
def test_a_file_comes_by_its_address_and_is_the_owners_alone(alice, bob):
    async def story():
        from chatapp.store import in_thread

        hers = await in_thread(filled)(alice)
        path = f"/c/{hers.pk}/export/"
        async with house():
            she, he = await visitor(alice), await visitor(bob)
            for format, kind, name in (
                ("json", "application/json", "clocks-btimeb.json"),
                ("assistant-ui", "application/json", "clocks-btimeb.json"),
                ("markdown", "text/markdown; charset=utf-8", "clocks-btimeb.md"),
            ):
                file = await she.get(f"{path}?format={format}")
                assert (file.status_code, file.headers["content-type"]) == (200, kind)
                assert file.headers["content-disposition"] == f'attachment; filename="{name}"'
                assert (await he.get(f"{path}?format={format}")).status_code == 404
            assert (
                len(
                    (await she.get(f"{path}?format=json&extent=branch")).json()["conversations"][0][
                        "messages"
                    ]
                )
                == 4
            )
            for wrong in ("format=csv", "format=json&extent=all"):
                assert (await she.get(f"{path}?{wrong}")).status_code == 400
            dialog = (await she.get(path, headers=HTMX)).text
            assert "Thoughtline’s JSON" in dialog and "6 messages, 2 branches" in dialog
            assert (await (await visitor()).get("/thoughtline-1.schema.json")).json() == SCHEMA

    play(story())
