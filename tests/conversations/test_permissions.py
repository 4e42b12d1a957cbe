"""A person is asked before a tool runs: what the page shows of it, what a click does, and that every page says the same."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from threading import Semaphore
from uuid import UUID

import pytest
from django.contrib.auth.models import User

from chatapp.conversations.views.deciding import NO_DECISION
from chatapp.core.decision import shown_hash
from chatapp.core.items import Kind
from chatapp.store import in_thread
from chatapp.store.models import Grant, Message, Status
from chatapp.store.permissions.deciding import DECIDED, NOT_WAITING, OTHERS
from chatapp.tools import Tool
from tests.support.front import HTMX, Visitor, visitor
from tests.support.page import Page, attribute, words
from tests.support.patience import PATIENCE
from tests.support.screen import Element, Screen
from tests.support.script import call, response, text, thought
from tests.support.stage import Stage, play, until
from tests.support.tabs import Tab

from .asking_tools import Panels, Toolbox, furnished, row, send

pytestmark = [pytest.mark.across, pytest.mark.django_db(transaction=True)]

BY_SCRIPT = pytest.mark.parametrize("script", [False, True], ids=["browser", "script"])
TWO = [send("bob", "call_1"), send("carol", "call_2")]
Story = Callable[[Stage, Visitor, UUID, Toolbox], Awaitable[None]]


def asked(owner: User, story: Story, *pieces, tools: Toolbox | None = None) -> None:
    """Plays the story of an answer that waits after these pieces, and will say "Because." afterwards."""
    box = Toolbox() if tools is None else tools

    async def whole() -> None:
        scripts = (response(*(pieces or [send()])), response(text()))
        async with furnished(owner, box, *scripts) as (on, she):
            answer = (await on.ask()).pk
            assert (await row(answer)).status == Status.WAITING
            await story(on, she, answer, box)

    play(whole())


def shown(arguments: str, key: str) -> str:
    """What the page sends back of a call that it showed."""
    return f"{shown_hash(arguments, Toolbox()['send'].fingerprint)} {key}"


def panels(screen: Screen) -> list[Element]:
    return screen.root.all("aria-label", "Permission")


def decisions(screen: Screen) -> list[str]:
    return [" ".join(each.text.split()) for each in screen.root.all("data-kind", "permission_decision")]


def test_the_panel_says_which_tool_and_all_of_its_arguments(alice):
    async def story(on, she, answer, box):
        look = await Panels(on, she).look()
        (group,) = look.groups
        said = words(group)
        assert said.startswith("send") and "wants to run" in said and '"to": "bob"' in said
        assert "Sends <b>words</b> to somebody." in said
        for name in ("Allow once", "Allow for this conversation", "Deny"):
            assert name in look.page.buttons()
        assert "Allow all once" not in look.page.buttons()
        assert look.seen == [shown('{"to": "bob"}', "fc_call_1")]

    asked(alice, story)


def test_nothing_of_the_arguments_or_the_name_is_hidden_or_cut(alice):
    long = "x" * 5_000
    hostile = (
        '{"to": "\u202ebob\u200b\U000e0041", "to": "<script>alert(1)</script>", "words": "' + long + '"}'
    )

    async def story(on, she, answer, box):
        page = await she.get(f"/c/{on.conversation.pk}/")
        (group,) = Page(page).all("div", role="group", aria_label="Permission")
        said = words(group)
        assert "⟨U+202E⟩bob⟨U+200B⟩⟨U+E0041⟩" in said and "<script>alert(1)</script>" in said and long in said
        assert "characters" in said
        assert "<script>alert(1)" not in page.text and "\u202e" not in page.text and "\u200b" not in page.text

    asked(alice, story, call("send", hostile))


@pytest.mark.parametrize(
    "address", ["https://me@аррӏе.com:8443/x?y=apple.com", r"https:\/\/\u0430\u0440\u0440\u04cf\u0435.com"]
)
def test_a_host_in_letters_of_another_script_is_named_in_plain_ones(alice, address):
    async def story(on, she, answer, box):
        look = await Panels(on, she).look()
        (group,) = look.groups
        assert "аррӏе.com" in words(group) and "its real name isxn--80ak6aa92e.com." in words(group)

    asked(alice, story, call("send", f'{{"to": "{address}"}}'))


def test_of_a_tool_of_a_server_its_server_is_said_and_its_own_title_is_not(alice):
    async def story(on, she, answer, box):
        (group,) = (await Panels(on, she).look()).groups
        assert words(group).startswith("docs.find") and "wants to run" in words(group)
        assert "A tool of the MCP server “docs”." in words(group)
        assert "Hostile" not in words(group)

    asked(alice, story, call("docs.find"))


def test_a_tool_that_is_gone_says_so_and_can_be_denied(alice):
    async def story(on, she, answer, box):
        on.engine.tools.change({})
        look = await Panels(on, she).look()
        assert "This tool is not here at the moment." in words(look.groups[0])
        await look.press("denied fc_call_1")
        assert (await on.end(answer)).status == Status.COMPLETE

    asked(alice, story)


@BY_SCRIPT
@pytest.mark.parametrize(
    ("decision", "line", "ran"),
    [
        ("once", "Allowed once by you", {"bob": 1}),
        ("conversation", "Allowed for this conversation by you", {"bob": 1}),
        ("denied", "Denied by you", {}),
    ],
)
def test_a_decision_is_taken_once_and_stands_among_the_items(alice, decision, line, ran, script):
    async def story(on, she, answer, box):
        look = await Panels(on, she).look()
        done = await look.press(f"{decision} fc_call_1", script=script)
        if script:
            assert json.loads(done.text) == [["gone", f"m-{answer}-i-fc_call_1-ask"]]
        else:
            assert done.status_code == 303
            assert done.headers["location"] == f"/c/{on.conversation.pk}/#m-{answer}"
        assert (await on.end(answer)).status == Status.COMPLETE
        twice = await look.press(f"{decision} fc_call_1", script=script)
        assert twice.status_code == 409 and NOT_WAITING in twice.text
        assert box.ran == ran
        page = (await look.look()).page
        assert not look.groups
        (said,) = page.all("p", data_kind="permission_decision")
        assert words(said).startswith(line)

    asked(alice, story)


@BY_SCRIPT
def test_others_arguments_than_were_shown_are_not_allowed(alice, script):
    async def story(on, she, answer, box):
        look = await Panels(on, she).look()
        for seen in ([shown('{"to": "eve"}', "fc_call_1")], []):
            done = await look.press("once fc_call_1", script=script, seen=seen)
            assert done.status_code == 409 and OTHERS in done.text
        assert (await row(answer)).status == Status.WAITING and not box.ran

    asked(alice, story)


@pytest.mark.parametrize("decision", ["", "yes fc_call_1", "once fc_call_9", "\0", "once \0"])
@BY_SCRIPT
def test_a_word_that_is_none_decides_nothing(alice, decision, script):
    async def story(on, she, answer, box):
        look = await Panels(on, she).look()
        headers = HTMX if script else {}
        form = {"decision": decision, "seen": look.seen}
        done = await she.post(f"/m/{answer}/decide/", form, headers=headers)
        known = decision.startswith("once")
        assert done.status_code == (409 if known else 400)
        assert (DECIDED if known else NO_DECISION) in done.text
        assert (await row(answer)).status == Status.WAITING and not box.ran

    asked(alice, story)


def test_after_a_stop_there_is_nothing_to_decide(alice):
    async def story(on, she, answer, box):
        look = await Panels(on, she).look()
        await she.post(f"/m/{answer}/stop/")
        done = await look.press("once fc_call_1")
        assert done.status_code == 409 and NOT_WAITING in done.text
        assert not (await look.look()).groups and not box.ran

    asked(alice, story)


def test_several_calls_are_decided_one_by_one(alice):
    async def story(on, she, answer, box):
        look = await Panels(on, she).look()
        assert len(look.groups) == 2
        await look.press("denied fc_call_1")
        assert (await row(answer)).status == Status.WAITING
        again = await look.press("once fc_call_1")
        assert again.status_code == 409 and DECIDED in again.text
        await look.look()
        assert len(look.groups) == 1 and "carol" in words(look.groups[0])
        await look.press("once fc_call_2")
        assert (await on.end(answer)).status == Status.COMPLETE
        assert box.ran == {"carol": 1}

    asked(alice, story, *TWO)


@pytest.mark.parametrize(("decision", "ran"), [("once", {"bob": 1, "carol": 1}), ("denied", {})])
def test_several_calls_are_decided_together(alice, decision, ran):
    async def story(on, she, answer, box):
        look = await Panels(on, she).look()
        assert {"Allow all once", "Deny all"} <= set(look.page.buttons())
        await look.press(decision)
        assert (await on.end(answer)).status == Status.COMPLETE
        assert box.ran == ran

    asked(alice, story, *TWO)


def test_together_counts_for_nothing_when_one_of_them_was_decided_elsewhere(alice):
    async def story(on, she, answer, box):
        here, there = await Panels(on, she).look(), await Panels(on, she).look()
        await there.press("denied fc_call_1")
        late = await here.press("once")
        assert late.status_code == 409 and DECIDED in late.text
        assert (await row(answer)).status == Status.WAITING and not box.ran

    asked(alice, story, *TWO)


def test_what_others_decide_about_an_answer_does_not_exist(alice, bob, charlie, dana):
    async def story(on, she, answer, box):
        look = await Panels(on, she).look()
        for person in (bob, charlie, dana):
            they = await visitor(person)
            form = {"decision": "once fc_call_1", "seen": look.seen}
            assert (await they.post(f"/m/{answer}/decide/", form)).status_code == 404
        assert (await row(answer)).status == Status.WAITING and not box.ran

    asked(alice, story)


def test_a_question_cannot_be_decided(alice):
    async def story(on, she, answer, box):
        question = (await row(answer)).parent_id
        form = {"decision": "once fc_call_1", "seen": ["0 fc_call_1"]}
        done = await she.post(f"/m/{question}/decide/", form)
        assert done.status_code == 409 and NOT_WAITING in done.text

    asked(alice, story)


def test_two_tabs_show_the_panel_and_follow_what_one_of_them_decides(alice):
    async def story(on, she, answer, box):
        tabs = [await Tab(on).open() for _ in range(2)]
        for tab in tabs:
            await tab.sees(lambda screen: len(panels(screen)) == 2)
            await tab.sees(lambda screen: screen.said)
            assert tab.screen.thread.attributes["data-answering"] == "waits"
            assert "Waits for you: 2 calls want to run" in tab.screen.said[-1]
            await rests_as_if_just_loaded(tab)
        look = await Panels(on, she).look()
        await look.press("denied fc_call_1")
        for tab in tabs:
            await tab.sees(lambda screen: len(panels(screen)) == 1 and len(decisions(screen)) == 1)
            await tab.sees(lambda screen: screen.said[-1] == "Waits for you: send wants to run")
            assert decisions(tab.screen)[0].startswith("Denied by you send")
            await tab.sees(is_told)
            await rests_as_if_just_loaded(tab)
        await look.press("once fc_call_2")
        await on.end(answer)
        for tab in tabs:
            await tab.sees_the_end()
            assert not panels(tab.screen)
            assert [each.split(" by ")[0] for each in decisions(tab.screen)] == ["Denied", "Allowed once"]
            assert "Answer finished" in tab.screen.said[-1]
            await rests_as_if_just_loaded(tab)

    asked(alice, story, thought("Hm."), text("Let me ask."), *TWO)


async def rests_as_if_just_loaded(tab: Tab) -> None:
    """While an answer waits, nothing says that a page has heard everything: it is looked at again until it has."""

    async def looks() -> bool:
        with suppress(AssertionError):
            await tab.looks_as_if_just_loaded()
            return True
        return False

    await tab.sees(is_told)
    try:
        await until(looks)
    except TimeoutError:
        await tab.looks_as_if_just_loaded()


def is_told(screen: Screen) -> bool:
    """The page knows how far its answer is."""
    return screen.thread.attributes.get("data-version") == screen.articles[-1].attributes["data-version"]


def test_two_decisions_at_once_leave_no_panel_behind(alice):
    many = [send(f"p{n}", f"call_{n}") for n in range(8)]

    async def story(on, she, answer, box):
        tab = await Tab(on).open()
        await tab.sees(lambda screen: len(panels(screen)) == 8)
        look = await Panels(on, she).look()
        for n in range(7):
            await look.press(f"denied fc_call_{n}")
        await tab.sees(lambda screen: len(panels(screen)) == 1 and is_told(screen))
        await rests_as_if_just_loaded(tab)
        await she.post(f"/m/{answer}/stop/")
        await tab.sees_the_end()
        assert not panels(tab.screen)
        await rests_as_if_just_loaded(tab)

    asked(alice, story, *many)


class Held:
    """What a page asks for the tools while it reads rows, held up at these of its readings once that is wanted."""

    def __init__(self, tools: Mapping[str, Tool], *places: int) -> None:
        self.tools, self.places = tools, places
        self.wanted, self._count = False, 0
        self._reached, self._released = Semaphore(0), Semaphore(0)

    def __call__(self) -> Mapping[str, Tool]:
        self._count += self.wanted
        if self._count in self.places:
            self._reached.release()
            assert self._released.acquire(timeout=PATIENCE)
        return self.tools

    async def meanwhile(self, happens: Awaitable[None]) -> None:
        assert await asyncio.to_thread(self._reached.acquire, timeout=PATIENCE)
        await happens
        self._released.release()


def test_a_decision_that_falls_into_the_look_whether_one_was_missed_is_not_missed(alice):
    many = [send(f"p{n}", f"call_{n}") for n in range(4)]

    async def story(on, she, answer, box):
        # After the first decision: is it news, the rows, the rows again, the question above; then: is the second one news?
        tab, held = Tab(on), Held(box, 2, 5)
        tab.viewer = replace(tab.viewer, tools=held)
        await tab.open()
        await tab.sees(lambda screen: len(panels(screen)) == 4 and is_told(screen))
        look = await Panels(on, she).look()
        held.wanted = True
        await look.press("denied fc_call_0")
        await held.meanwhile(look.press("denied fc_call_1"))
        await held.meanwhile(look.press("denied fc_call_2"))
        await tab.sees(lambda screen: len(panels(screen)) == 1 and is_told(screen))
        await rests_as_if_just_loaded(tab)
        await she.post(f"/m/{answer}/stop/")

    asked(alice, story, *many)


@pytest.mark.parametrize("missed", [0, 1, 2])
def test_a_tab_whose_line_was_broken_shows_what_a_reload_shows(alice, missed):
    """At the question, at the first decision, or at the last one."""

    async def story(on, she, answer, box):
        tab = await Tab(on).open()
        await tab.sees(lambda screen: len(panels(screen)) == 2 and is_told(screen))
        tab.drop()
        look = await Panels(on, she).look()
        for value in ("denied fc_call_1", "once fc_call_2")[:missed]:
            await look.press(value)
        await on.end(answer)
        tab.join()
        await tab.sees(lambda screen: len(panels(screen)) == 2 - missed and is_told(screen))
        await tab.sees(lambda screen: len(decisions(screen)) == missed)
        if missed == 2:
            await tab.sees_the_end()
        await rests_as_if_just_loaded(tab)
        await she.post(f"/m/{answer}/stop/")

    asked(alice, story, *TWO)


def test_what_is_allowed_for_the_conversation_elsewhere_is_asked_no_more_here(alice):
    """Another branch waits for the same tool; nothing is written in it, and still its page hears of it."""

    async def story(on, she, answer, box):
        tab = await Tab(on).open()
        await tab.sees(lambda screen: len(panels(screen)) == 2 and is_told(screen))
        elsewhere = await other_branch(on)
        (asks,) = (await row(elsewhere)).metadata["asks"]
        form = {"decision": f"conversation {asks}", "seen": [shown('{"to": "dave"}', asks)]}
        assert (await she.post(f"/m/{elsewhere}/decide/", form)).status_code == 303
        await tab.sees(lambda screen: len(panels(screen)) == 1)
        assert "docs.find" in panels(tab.screen)[0].text
        assert await in_thread(Grant.objects.filter(tool="send").count)() == 1

    async def other_branch(on) -> UUID:
        on.engine.catalog.provider("scripted")._scripts = [response(send("dave", "call_7")), response(text())]
        on.engine.catalog.provider("scripted").asked.clear()
        head = await in_thread(lambda: Message.objects.filter(status=Status.WAITING).get().parent_id)()
        started = await on.engine.ask_again(head, author=on.conversation.owner, model=on.model)
        await on.end(started.answer)
        return UUID(str(started.answer))

    asked(alice, story, send("bob", "call_1"), call("docs.find", call_id="call_2"))


def test_an_answer_that_waits_can_be_stopped(alice):
    async def story(on, she, answer, box):
        tab = await Tab(on).open()
        await tab.sees(panels)
        assert "Stop" in "".join(each.text for each in tab.screen.one("send").below())
        await she.post(f"/m/{answer}/stop/", headers=HTMX)
        await tab.sees_the_end()
        assert not panels(tab.screen)
        await tab.looks_as_if_just_loaded()

    asked(alice, story)


def test_without_scripts_a_page_that_waits_is_not_loaded_again_and_again(alice):
    async def story(on, she, answer, box):
        assert "http-equiv" not in (await she.get(f"/c/{on.conversation.pk}/")).text
        await in_thread(Message.objects.filter(pk=answer).update)(status=Status.RUNNING)
        assert 'http-equiv="refresh"' in (await she.get(f"/c/{on.conversation.pk}/")).text
        await in_thread(Message.objects.filter(pk=answer).update)(status=Status.WAITING)

    asked(alice, story)


@pytest.mark.parametrize("asks", [None, 7, "fc_call_1", ["missing"], [7, None], {}])
def test_damaged_rows_ask_nothing_and_break_nothing(alice, asks):
    async def story(on, she, answer, box):
        metadata = (await row(answer)).metadata | {"asks": asks}
        await in_thread(Message.objects.filter(pk=answer).update)(metadata=metadata)
        look = await Panels(on, she).look()
        assert not look.groups and "Stop" in look.page.buttons()
        await she.post(f"/m/{answer}/stop/")

    asked(alice, story)


def states(screen: Screen) -> list[str]:
    return [each.attributes["data-outcome"] for each in screen.root.all("data-call-id")]


def test_calls_say_how_they_stand_while_they_wait_and_run(alice):
    box = Toolbox()

    async def story():
        scripts = (response(call("slow", call_id="call_0"), send()), response(text()))
        async with furnished(alice, box, *scripts) as (on, she):
            tab = await Tab(on).open()
            answer = await on.begin()
            await tab.sees(lambda screen: states(screen)[:1] == ["running"])
            (clock,) = [
                each for each in tab.screen.root.all("data-elapsed-ms") if "data-least" in each.attributes
            ]
            assert clock.text.endswith(" s")
            box.go.set()
            await on.end(answer)
            await tab.sees(lambda screen: states(screen) == ["done", "asks"])
            assert "waits for you" in tab.screen.root.all("data-outcome", "asks")[0].text
            await (await Panels(on, she).look()).press("denied fc_call_1")
            await on.end(answer)
            await tab.sees_the_end()
            assert states(tab.screen) == ["done", "denied"]
            assert "denied" in tab.screen.root.all("data-outcome", "denied")[0].text
            await tab.looks_as_if_just_loaded()

    play(story())


def test_a_running_call_shows_the_newest_line_of_how_far_it_is(alice):
    box = Toolbox()

    async def slow(arguments, report):
        for line in ("one of three", "two of \u202ethree"):
            await until(partial(seen, line, report))
        await box.go.wait()
        return "at last"

    tabs: list[Tab] = []

    async def seen(line: str, report: Callable[[str], None]) -> bool:
        """What is said too soon after what was said before is not shown."""
        report(line)
        wanted = line.replace("\u202e", "⟨U+202E⟩")
        return any(each.text == wanted for each in progress(tabs[0].screen))

    def progress(screen: Screen) -> list[Element]:
        return [each for each in screen.root.all("class") if "progress" in each.attributes["class"].split()]

    async def story():
        box["slow"] = replace(box["slow"], call=slow)
        scripts = (response(call("slow")), response(text()))
        async with furnished(alice, box, *scripts) as (on, _):
            tabs.append(await Tab(on).open())
            answer = await on.begin()
            await tabs[0].sees(lambda screen: any("two of" in each.text for each in progress(screen)))
            late = await Tab(on).open()
            assert [each.text for each in progress(late.screen)] == ["two of ⟨U+202E⟩three"]
            box.go.set()
            await on.end(answer)
            for tab in (tabs[0], late):
                await tab.sees_the_end()
                assert not progress(tab.screen)
                await tab.looks_as_if_just_loaded()

    play(story())


def test_the_name_of_somebody_else_who_decided_is_told(alice, bob):
    """An answer may come from a branch of somebody else."""

    async def story(on, she, answer, box):
        look = await Panels(on, she).look()
        await look.press("once fc_call_1")
        await on.end(answer)
        rows = Message.objects.get
        kept = (await in_thread(rows)(pk=answer)).items
        await in_thread(_decided_by)(kept, str(bob.pk), "b\u202eob")
        (said,) = (await look.look()).page.all("p", data_kind="permission_decision")
        assert words(said).startswith("Allowed once by b⟨U+202E⟩ob")

    def _decided_by(items, by: str, name: str) -> None:
        item = items.get(kind=Kind.PERMISSION_DECISION)
        items.filter(pk=item.pk).update(wire=item.wire | {"by": by, "name": name})

    asked(alice, story)


def test_a_time_is_told_by_the_clock_of_whoever_looks(alice):
    async def story(on, she, answer, box):
        look = await Panels(on, she).look()
        await look.press("once fc_call_1")
        await on.end(answer)
        seen = []
        for zone in ("Asia/Tokyo", "America/New_York"):
            page = Page(
                await she.get(
                    f"/c/{on.conversation.pk}/", headers={"Cookie": f"zone={zone}; sessionid={she.session}"}
                )
            )
            (line,) = page.all("p", data_kind="permission_decision")
            times = [it for it in page.all("time") if attribute(it, "title")]
            seen.append((words(line), [words(it) for it in times]))
        assert seen[0] != seen[1]

    asked(alice, story)
