"""Which tools a conversation has: chosen before its first question, switched afterwards; and what is allowed, taken back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chatapp import store
from chatapp.store import in_thread
from chatapp.store.models import Conversation, Grant, Message, Status
from chatapp.tools import TOOLS, Tool
from tests.support.front import HTMX, house, visitor
from tests.support.page import Page, attribute, words
from tests.support.script import response, text
from tests.support.stage import play

from .asking_tools import Panels, Toolbox, furnished, row, send

pytestmark = [pytest.mark.across, pytest.mark.django_db(transaction=True)]

BY_SCRIPT = pytest.mark.parametrize("headers", [{}, HTMX], ids=["browser", "script"])


def notes(page: Page) -> dict[str, str]:
    """What stands under each switch, by the name of its tool."""
    return {attribute(it, "data-tool"): words(it) for it in page.all("label") if attribute(it, "data-tool")}


def on_in(page: Page) -> list[str]:
    boxes = page.all("input", name="tools")
    return [attribute(it, "value") for it in boxes if "checked" in dict(it.attributes)]


async def kept(on) -> list[str]:
    conversation = await in_thread(Conversation.objects.get)(pk=on.conversation.pk)
    return store.names_of(conversation)


CHOOSING = {"choose_tools": "1"}


def where(on, more: str = "") -> str:
    return f"/c/{on.conversation.pk}/tools/{more}"


def settled(owner, story, tools: dict[str, Tool] | None = None) -> None:
    """Plays the story of a conversation whose answer has ended."""
    box = Toolbox() if tools is None else tools

    async def whole() -> None:
        async with furnished(owner, box, response(text())) as (on, she):
            await on.ask()
            await story(on, she, box)

    play(whole())


def test_each_switch_says_whether_its_tool_asks(alice):
    async def story(on, she, box):
        page = Page(await she.get(f"/c/{on.conversation.pk}/"))
        said = notes(page)
        assert said["look"] == "looknever asks"
        assert said["send"] == "sendasks each time"
        assert said["docs.find"] == "findFinds.from the MCP server “docs”, asks each time"
        assert attribute(page.one("button", popovertarget="tools"), "aria-label") == "Tools, 4 on"
        assert sorted(on_in(page)) == sorted(box)

    settled(alice, story)


def test_built_in_tools_are_called_by_their_titles(alice):
    async def story(on, she, box):
        said = notes(Page(await she.get(where(on))))
        assert (
            said["clock"].startswith("Current time") and said["read_page"] == "Read a web pageasks each time"
        )

    settled(alice, story, dict(TOOLS))


def test_what_a_server_says_of_its_tool_is_its_first_line_and_not_for_ever(alice):
    box = Toolbox()
    box["docs.find"] = replace(box["docs.find"], description="Finds pages.\n\nSecond line.")
    box["docs.long"] = replace(box["docs.find"], name="docs.long", description="x" * 5000)

    async def story(on, she, box):
        said = notes(Page(await she.get(where(on))))
        assert said["docs.find"].startswith("findFinds pages.from")
        assert said["docs.long"].startswith(f"long{'x' * 160}…from")
        assert "Sends" not in said["send"]

    settled(alice, story, box)


def test_a_hostile_title_name_or_description_is_text_with_nothing_hidden(alice):
    box = Toolbox()
    hostile = "docs.<b>r\u202ee\u200bad"
    box[hostile] = replace(box["docs.find"], name=hostile, description="<i>sa\u200bid")

    async def story(on, she, box):
        page = await she.get(where(on))
        assert "<b>r" not in page.text and "Hostile" not in page.text
        assert "&lt;b&gt;r⟨U+202E⟩e⟨U+200B⟩ad" in page.text
        assert "&lt;i&gt;sa⟨U+200B⟩id" in page.text

    settled(alice, story, box)


@BY_SCRIPT
def test_one_switch_changes_one_tool_whatever_the_page_shows_of_the_others(alice, headers):
    async def story(on, she, box):
        await she.post(where(on), {"tool": "send"}, headers=headers)
        await she.post(where(on), {"tool": "look"}, headers=headers)
        assert await kept(on) == ["slow", "docs.find"]
        done = await she.post(where(on), {"tool": "send", "on": "1"}, headers=headers)
        assert done.status_code == (200 if headers else 302)
        assert await kept(on) == ["slow", "docs.find", "send"]
        assert sorted(on_in(Page(await she.get(f"/c/{on.conversation.pk}/")))) == [
            "docs.find",
            "send",
            "slow",
        ]

    settled(alice, story)


def test_without_scripts_the_whole_form_is_saved_and_shown_again(alice):
    async def story(on, she, box):
        done = await she.post(where(on), CHOOSING | {"tools": ["docs.find", "look", "no such tool"]})
        assert done.headers["location"] == where(on)
        # What was on keeps its place, since everything that is sent must begin alike.
        assert await kept(on) == ["look", "docs.find"]
        page = Page(await she.get(where(on)))
        assert sorted(on_in(page)) == ["docs.find", "look"] and "Save" in page.buttons()
        await she.post(where(on), {})
        assert await kept(on) == ["look", "docs.find"]
        await she.post(where(on), CHOOSING)
        assert await kept(on) == []

    settled(alice, story)


@BY_SCRIPT
def test_while_an_answer_is_written_they_stay_and_the_person_is_told(alice, headers):
    async def story(on, she, box):
        answer = await in_thread(Message.objects.filter(role="assistant").latest)("order")
        await in_thread(Message.objects.filter(pk=answer.pk).update)(status=Status.RUNNING)
        done = await she.post(where(on), {"tool": "send"}, headers=headers)
        assert done.status_code == 409 and "Change the tools when it has ended." in done.text
        assert await kept(on) == list(box)
        await in_thread(Message.objects.filter(pk=answer.pk).update)(status=Status.COMPLETE)

    settled(alice, story)


def test_a_tool_that_is_gone_is_shown_as_such_and_can_be_switched_off(alice):
    async def story(on, she, box):
        on.engine.tools.change({name: tool for name, tool in box.items() if name != "docs.find"})
        page = Page(await she.get(where(on)))
        assert notes(page)["docs.find"] == "findfrom the MCP server “docs”, not here at the moment"
        await she.post(where(on), {"tool": "look"})
        assert "docs.find" in await kept(on)
        await she.post(where(on), {"tool": "docs.find"})
        assert await kept(on) == ["send", "slow"]
        assert "docs.find" not in notes(Page(await she.get(where(on))))

    settled(alice, story)


def test_two_hundred_tools_are_shown_with_a_field_to_find_one(alice):
    box = Toolbox()
    find = box["docs.find"]
    box |= {f"big.tool_{n}": replace(find, name=f"big.tool_{n}", server="big") for n in range(200)}

    async def story(on, she, box):
        page = Page(await she.get(f"/c/{on.conversation.pk}/"))
        assert len(notes(page)) >= 204
        assert page.one("input", type="search", aria_label="Find a tool")
        done = await she.post(where(on), CHOOSING | {"tools": list(box)}, headers=HTMX)
        assert done.status_code == 409 and "At most" in done.text

    settled(alice, story, box)


def test_a_new_conversation_has_the_tools_that_were_chosen(alice):
    async def story():
        async with house() as own:
            own.tools.change(Toolbox())
            she = await visitor(alice)
            page = Page(await she.get("/"))
            assert "docs.find" not in on_in(page) and {"clock", "send"} <= set(on_in(page))
            chosen = {"choose_tools": "1", "tools": ["clock", "docs.find", "no such tool"]}
            await she.post("/ask/", {"text": "Why?", **chosen})
            conversation = await in_thread(Conversation.objects.get)()
            assert store.names_of(conversation) == ["clock", "docs.find"]

    play(story())


@pytest.mark.parametrize(("form", "has"), [({}, True), ({"choose_tools": "1"}, False)])
def test_without_the_switches_it_has_the_usual_ones_and_with_none_on_it_has_none(alice, form, has):
    async def story():
        async with house():
            she = await visitor(alice)
            await she.post("/ask/", {"text": "Why?", **form})
            conversation = await in_thread(Conversation.objects.get)()
            assert bool(store.names_of(conversation)) == has

    play(story())


def test_what_was_chosen_is_still_chosen_when_the_question_is_refused(alice):
    async def story():
        async with house():
            she = await visitor(alice)
            refused = await she.post("/ask/", {"text": " ", "choose_tools": "1", "tools": ["clock"]})
            assert refused.status_code == 400
            assert on_in(Page(refused)) == ["clock"]

    play(story())


@BY_SCRIPT
def test_what_is_allowed_is_listed_and_taken_back_at_once(alice, headers):
    box = Toolbox()

    async def story():
        scripts = [response(send()), response(text()), response(send(call_id="call_2")), response(text())]
        async with furnished(alice, box, *scripts) as (on, she):
            first = await on.ask()
            await (await Panels(on, she).look()).press("conversation fc_call_1")
            assert (await on.end(first.pk)).status == Status.COMPLETE
            page = Page(await she.get(where(on)))
            assert notes(page)["send"] == "sendallowed in this conversation"
            assert attribute(page.one("button", name="tool"), "aria-label") == "Take back, send"
            done = await she.post(where(on, "take-back/"), {"tool": "send"}, headers=headers)
            assert done.status_code == (200 if headers else 302)
            again = await on.ask("And?", at=first.pk)
            assert (await row(again.pk)).status == Status.WAITING and box.ran == {"bob": 1}
            page = Page(await she.get(where(on)))
            assert notes(page)["send"] == "sendasks each time" and not page.all("button", name="tool")
            await she.post(f"/m/{again.pk}/stop/")

    play(story())


def test_a_tool_that_changed_since_it_was_allowed_asks_and_says_why(alice):
    box = Toolbox()

    async def story(on, she, box):
        grant = {"tool": "send", "fingerprint": "0" * 64, "by": alice, "conversation": on.conversation}
        await in_thread(Grant.objects.create)(**grant)
        page = await she.get(where(on))
        assert notes(Page(page))["send"] == "sendasks each time"
        assert "It has changed since, so it asks again." in page.text

    settled(alice, story, box)


def test_of_others_nothing_can_be_taken_back_or_switched(alice, bob, charlie, dana):
    async def story(on, she, box):
        grant = {"tool": "send", "fingerprint": box["send"].fingerprint, "by": alice}
        await in_thread(Grant.objects.create)(conversation=on.conversation, **grant)
        for person in (bob, charlie, dana):
            they = await visitor(person)
            for path, form in ((where(on), {"tool": "send"}), (where(on, "take-back/"), {"tool": "send"})):
                assert (await they.post(path, form)).status_code == 404
            assert (await they.get(where(on))).status_code == 404
        assert await kept(on) == list(box) and await in_thread(Grant.objects.count)() == 1

    settled(alice, story)
