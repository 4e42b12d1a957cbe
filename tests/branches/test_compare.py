"""Two branches side by side: where they part, what each of them took, and who may see it."""

from __future__ import annotations

import re
from html import unescape
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from chatapp import store
from chatapp.branches.page import compare as compared
from chatapp.branches.store.forking import fork
from chatapp.sharing.store import fork_shared, share
from chatapp.store import AskedFor, Measured, deleting, places
from chatapp.store.models import Conversation, Item, Message, Status
from tests.support.attacks import ATTACKS
from tests.support.make import call, result, text, thought
from tests.support.page import Page, attribute, words
from tests.support.turns import ask
from tests.thread.test_page import branch, chain, shown

pytestmark = pytest.mark.django_db

MOST_QUERIES = 45


@pytest.fixture
def she(client, alice):
    client.force_login(alice)
    return client


def answered(owner, question: UUID | None = None, parent: Message | None = None, **more) -> Message:
    """Another answer to a question; without one, to a question of its own, below a message or in a new conversation."""
    asked = AskedFor(model="demo:thinker", effort=more.get("effort", ""))
    if question:
        started = store.start_answer(question, author=owner, asked=asked)
    elif parent:
        said = more.get("asks", "And?")
        started = store.start_turn(parent.conversation_id, said, parent=parent.pk, author=owner, asked=asked)
    else:
        started = store.open_conversation(owner, more.get("asks", "Why?"), tools=[], asked=asked)
    took, wrote = more.get("thinks", 5_000), more.get("writes", 5_000)
    items = more.get("items") or [thought(), text(text=more.get("says", "Because."))]
    claim = store.claim_turn(started.answer, runner="here", seen=0)
    timings = {"rs_1": {"start": 0, "end": took}, "msg_1": {"start": took, "end": took + wrote}}
    measured = Measured(
        durations={"rs_1": took}, timings=timings | more.get("timings", {}), elapsed=took + wrote
    )
    store.finish(claim, items, measured)
    row = Message.objects.get(pk=started.answer)
    row.metadata["rounds"] = [
        {
            "round": 0,
            "model": "demo:thinker",
            "first_event_ms": 900,
            "usage": more.get("usage", {"input": 10, "output": 20}),
        }
    ]
    row.save()
    return row


def address(a, b, more: str = "") -> str:
    return f"/compare/?a={getattr(a, 'pk', a)}&b={getattr(b, 'pk', b)}{more}"


def sides(response) -> tuple[list[UUID], list[UUID]]:
    """The messages of each side."""
    assert response.status_code == 200, response.status_code
    one, two = re.findall(r'<section id="side-.">?.*?</section>|<section .*?</section>', response.text, re.S)
    found = [[UUID(pk) for pk in re.findall(r'data-message-id="([^"]+)"', side)] for side in (one, two)]
    return found[0], found[1]


def figures(response) -> dict[str, tuple[str, str]]:
    """In words, by name."""
    table = re.search(r'<table class="versus">.*?</table>', response.text, re.S)
    assert table
    rows = re.findall(r"<tr>(.*?)</tr>", re.sub(r"<svg.*?</svg>", "", table[0], flags=re.S), re.S)
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S) for row in rows]
    plain = [[" ".join(unescape(re.sub("<[^>]+>", "", cell)).split()) for cell in row] for row in cells]
    return {name: (a, b) for name, a, b in plain}


def in_words(response) -> str:
    return " ".join(unescape(re.sub("<[^>]+>", " ", response.text)).split())


# Where they part


def test_two_answers_to_one_question_stand_side_by_side_below_it(she, alice):
    one = answered(alice, says="The first way.")
    two = answered(alice, one.parent_id, says="The second way.")
    page = she.get(address(one, two))
    assert sides(page) == ([one.pk], [two.pk])
    assert "The first way." in page.text and "The second way." in page.text
    assert "Here they part, after 1 message in common" in in_words(page)
    trunk = page.text[page.text.index('class="trunk"') : page.text.index('class="parting"')]
    assert f'data-message-id="{one.parent_id}"' in trunk
    assert f'href="/c/{one.conversation_id}/?at={one.parent_id}#m-{one.parent_id}"' in page.text


def test_each_side_goes_on_to_its_leaf(she, alice):
    first = ask(alice)
    one, two = ask(alice, first, "Left?"), ask(alice, first, "Right?")
    deep = ask(alice, one, "Deeper?")
    page = she.get(address(one, two))
    assert sides(page) == ([*branch([one, deep])], [*branch([two])])
    assert "after 2 messages in common" in in_words(page)


def test_what_is_common_is_folded_but_for_its_last_question(she, alice):
    answers = chain(alice, 6)
    two = answered(alice, answers[-1].parent_id)
    page = she.get(address(answers[-1], two))
    trunk = page.text[page.text.index('class="trunk"') : page.text.index('class="parting"')]
    folded = trunk[: trunk.index("</details><article") if "</details><article" in trunk else None]
    found = [UUID(pk) for pk in re.findall(r'data-message-id="([^"]+)"', trunk)]
    assert found == branch(answers)[6:11]
    assert str(answers[-1].parent_id) not in folded
    assert "after 11 messages in common" in in_words(page)


def test_a_branch_beside_its_fork_parts_where_either_went_on(she, alice):
    source = answered(alice)
    made = fork(source, by=alice).conversation
    here = answered(alice, parent=source, asks="Here?")
    there = answered(alice, parent=Message.objects.get(pk=made.head_id), asks="There?")
    page = she.get(address(source, there))
    assert sides(page) == (branch([here]), branch([there]))
    assert "after 2 messages in common" in in_words(page)
    assert f'href="/c/{made.pk}/?at={there.pk}"' in page.text


def test_a_fork_that_was_not_gone_on_with_ends_where_it_was_made(she, alice):
    source = answered(alice)
    made = fork(source, by=alice).conversation
    here = answered(alice, parent=source)
    page = she.get(address(here, made.head_id))
    assert sides(page) == (branch([here]), [])
    assert "This branch ends here." in in_words(page)


def test_two_conversations_without_anything_in_common_say_so(she, alice):
    one, two = answered(alice, asks="One?"), answered(alice, asks="Two?")
    page = she.get(address(one, two))
    assert sides(page) == (branch([one]), branch([two]))
    assert "They have nothing in common" in in_words(page)


@pytest.mark.parametrize("which", ["itself", "a message above", "its copy"])
def test_one_and_the_same_branch_is_named_as_that(she, alice, which):
    first = answered(alice)
    last = answered(alice, parent=first)
    other = {"itself": last.pk, "a message above": first.pk}.get(which) or fork(
        last, by=alice
    ).conversation.head_id
    page = she.get(address(last, other))
    assert "one and the same branch of 4 messages" in in_words(page)
    assert 'class="pair"' not in page.text and 'class="versus"' not in page.text


# What each of them took


def test_thoughts_tools_times_and_tokens_of_each_side_are_added_up(she, alice):
    calls = [thought(), call(), result(), text()]
    tool = {"part-9": {"start": 5_000, "end": 6_200}}
    usage = {"input": 100, "output": 50, "cached": 40, "reasoning": 30}
    one = answered(alice, items=calls, timings=tool, usage=usage, effort="high")
    answered(alice, parent=one, thinks=3_000, usage={"input": 300, "output": 25})
    two = answered(alice, one.parent_id, thinks=8_000, writes=1_000)
    found = figures(she.get(address(one, two)))
    assert found == {
        "Figure": ("A, Demo (not a real model)", "B, Demo (not a real model)"),
        "Messages": ("3 messages", "1 message"),
        "Effort": ("high, as usual", "as usual"),
        "Thinking": ("8 s in 2 steps", "8 s in 1 step"),
        "Tools": ("1.2 s, 1 call", "none"),
        "To the first sign": ("0.9 s", "0.9 s"),
        "In all": ("18 s", "9.0 s"),
        "Tokens": ("400 in, 75 out", "10 in, 20 out"),
        "From the cache": ("at least 40 of those in", "none"),
        "Tokens of thought": ("at least 30 of those out", "none"),
    }


def test_what_nobody_measured_is_unknown_and_what_is_partly_known_says_so(she, alice):
    one = answered(alice)
    later = answered(alice, parent=one)
    two = answered(alice, one.parent_id)
    Message.objects.filter(pk__in=(later.pk, two.pk)).update(metadata={})
    found = figures(she.get(address(one, two)))
    assert found["Thinking"] == ("5 s in 2 steps, 1 not measured", "unknown in 1 step")
    assert found["In all"] == ("at least 10 s", "unknown")
    assert found["To the first sign"] == ("0.9 s", "unknown")


def strips(markup: str) -> list[list[tuple[float, float, str]]]:
    """The bars of each line: where they begin, how wide they are, and what they are, in percent."""
    bar = re.compile(r'<rect x="([\d.]+)%" width="([\d.]+)%" height="5" data-kind="(\w+)"')
    lines = re.findall(r'<svg class="strip".*?</svg>', markup, re.S)
    return [[(float(x), float(width), kind) for x, width, kind in bar.findall(line)] for line in lines]


def test_all_bars_of_both_sides_are_on_one_scale(she, alice):
    one = answered(alice, thinks=10_000, writes=10_000)
    two = answered(alice, one.parent_id, thinks=5_000, writes=5_000)
    page = she.get(address(one, two))
    table, pair = page.text.split('<div class="pair"')
    thinking, its_thinking, line, its_line = strips(table)
    assert (thinking, its_thinking) == ([(0, 50, "reasoning")], [(0, 25, "reasoning")])
    assert line == [(0, 50, "reasoning"), (50, 50, "assistant_message")]
    assert its_line == [(0, 25, "reasoning"), (25, 25, "assistant_message")]
    assert strips(pair) == [line, its_line]


def test_answers_of_a_side_follow_each_other_on_its_line(she, alice):
    one = answered(alice, thinks=5_000, writes=5_000)
    answered(alice, parent=one, thinks=5_000, writes=5_000)
    two = answered(alice, one.parent_id, thinks=5_000, writes=0)
    table, pair = she.get(address(one, two)).text.split('<div class="pair"')
    line, its_line = strips(table)[2:]
    assert [x for x, _, _ in line] == [0, 25, 50, 75]
    assert its_line[0] == (0, 25, "reasoning")
    assert [row[0] for row in strips(pair)] == [(0, 50, "reasoning")] * 3, "each answer from its own start"


def test_the_scale_is_the_same_on_every_page_of_a_long_comparison(she, alice, monkeypatch):
    monkeypatch.setattr(compared, "AT_ONCE", 2)
    one = answered(alice, thinks=5_000, writes=5_000)
    answered(alice, parent=one, thinks=20_000, writes=20_000)
    two = answered(alice, one.parent_id)
    for more in ("", "&from=2"):
        pair = she.get(address(one, two, more)).text.split('<div class="pair"')[1]
        (first, *_), *_ = strips(pair)
        assert first == ((0, 12.5, "reasoning") if not more else (0, 50, "reasoning"))


# Much of it


def test_long_branches_are_shown_in_pages_and_nothing_is_lost(she, alice):
    first = ask(alice)
    one, two = [ask(alice, first, "One?")], [ask(alice, first, "Two?")]
    for _ in range(24):
        one.append(ask(alice, one[-1]))
    for _ in range(11):
        two.append(ask(alice, two[-1]))
    where, found = address(one[0], two[0]), ([], [])
    while where:
        page = she.get(where)
        for side, more in zip(found, sides(page), strict=True):
            assert len(more) <= 20
            side.extend(more)
        later = re.search(r'href="([^"]+)">Later messages', page.text)
        where = f"/compare/{unescape(later[1])}" if later else ""
    assert found == (branch(one), branch(two))
    assert "Earlier messages" in page.text and "It ended before this." in page.text


@pytest.mark.parametrize("begin", ["", "0", "1", "999999999"])
def test_a_page_that_begins_anywhere_shows_something(she, alice, begin):
    one = ask(alice)
    two = answered(alice, one.parent_id)
    assert sides(she.get(address(one, two, f"&from={begin}"))) == ([one.pk], [two.pk])


def test_of_a_very_long_branch_so_much_is_added_up_as_is_said(she, alice, monkeypatch):
    monkeypatch.setattr(compared, "MOST_ADDED", 3)
    one = answered(alice)
    answered(alice, parent=answered(alice, parent=one))
    two = answered(alice, one.parent_id)
    page = she.get(address(one, two))
    assert figures(page)["Thinking"] == ("10 s in 2 steps", "5 s in 1 step")
    assert "the first 3 messages after the parting are added up" in in_words(page)


@pytest.mark.parametrize("where", ["beside it", "in a fork"])
def test_the_cost_of_a_page_does_not_grow_with_the_branches(she, alice, where):
    first = ask(alice)
    if where == "beside it":
        a, b = ask(alice, first), ask(alice, first)
    else:
        for _ in range(20):
            first = ask(alice, first)
        made = fork(first, by=alice).conversation
        a, b = ask(alice, first, "A?"), ask(alice, Message.objects.get(pk=made.head_id), "B?")
    queries = []
    for _ in range(2):
        she.get(address(a, b))
        with CaptureQueriesContext(connection) as seen:
            assert she.get(address(a, b)).status_code == 200
        queries.append(len(seen))
        one, two = a, b
        for _ in range(25):
            one, two = ask(alice, one), ask(alice, two)
    assert queries[1] <= queries[0] <= MOST_QUERIES


def test_looking_writes_nothing_and_moves_nobody(she, alice):
    one = answered(alice)
    two = answered(alice, one.parent_id)
    places.go_to(alice, one)
    she.get(address(one, two))
    with CaptureQueriesContext(connection) as seen:
        she.get(address(one, two))
    wrote = [query["sql"] for query in seen if query["sql"].split()[0] in ("INSERT", "UPDATE", "DELETE")]
    assert wrote == [] and Conversation.objects.get().head_id == one.pk


# How it is shown


def test_nothing_can_be_done_to_a_message_here(she, alice):
    one = answered(alice)
    two = answered(alice, one.parent_id)
    for status in (Status.COMPLETE, Status.STOPPED, Status.FAILED, Status.INTERRUPTED):
        Message.objects.filter(pk=two.pk).update(status=status)
        page = she.get(address(one, two)).text
        main = page[page.index('class="trunk"') :]
        assert 'class="acts"' not in main and "formaction" not in main.split("</main>")[0]


def test_an_answer_that_is_being_written_says_so_and_is_no_final_one(she, alice):
    one = answered(alice)
    store.start_answer(one.parent_id, author=alice, asked=AskedFor(model="demo:thinker"))
    two = Message.objects.latest("order")
    page = she.get(address(one, two))
    assert "still being written" in in_words(page)
    assert figures(page)["In all"] == ("10 s", "still running")


def test_an_answer_that_ended_otherwise_says_how(she, alice):
    one = answered(alice)
    two = answered(alice, one.parent_id)
    Message.objects.filter(pk=two.pk).update(status=Status.INTERRUPTED)
    assert "The server was restarted" in in_words(she.get(address(one, two)))


def test_siblings_can_be_chosen_instead(she, alice):
    one = answered(alice, says="First words.")
    two, three = (answered(alice, one.parent_id, says=f"{says} words.") for says in ("Second", "Third"))
    page = Page(she.get(address(one, three)))
    assert page.options("a") == page.options("b") == [str(row.pk) for row in (one, two, three)]
    assert (page.chosen("a"), page.chosen("b")) == (str(one.pk), str(three.pk))
    labels = [words(it) for it in page.all("option")]
    assert labels[1] == "2: Demo (not a real model), Second words."
    assert sides(she.get(address(two, three))) == ([two.pk], [three.pk])


def test_of_very_many_siblings_the_newest_and_the_shown_one_can_be_chosen(she, alice, monkeypatch):
    monkeypatch.setattr(compared, "MOST_CHOICES", 2)
    one = ask(alice)
    others = [answered(alice, one.parent_id) for _ in range(3)]
    page = Page(she.get(address(one, others[-1])))
    assert page.options("a") == [str(row.pk) for row in (one, *others[1:])]
    assert page.options("b") == [str(row.pk) for row in others[1:]]
    assert [words(it)[:2] for it in page.all("option")] == ["1:", "3:", "4:", "3:", "4:"]


@pytest.mark.parametrize("attacks", [ATTACKS[n::8] for n in range(8)])
def test_hostile_text_is_text(she, alice, attacks):
    said = "\n\n".join(attacks)
    answers = [answered(alice, asks=said, items=[thought(text=said), text(text=said)])]
    answers.append(answered(alice, answers[0].parent_id, says=said))
    Message.objects.filter(pk=answers[1].pk).update(model=f"demo:{attacks[0]}"[:300])
    Conversation.objects.update(title=attacks[0][:200])
    page = she.get(address(*answers)).text
    main = page[page.index("<main") :]
    assert not re.search(r"<(script|img|iframe|object|embed|style|base|form[^>]*javascript)\b", main)
    assert not re.search(r"<[^>]*\son\w+=", re.sub(r'"[^"]*"', '""', main))


def test_the_page_loads_its_own_sheet_and_no_other_than_the_threads(she, alice):
    one = ask(alice)
    two = answered(alice, one.parent_id)
    sheets = [
        set(re.findall(r"css/(\w+)\.", she.get(where).text))
        for where in (address(one, two), f"/c/{one.conversation_id}/")
    ]
    assert sheets[0] - sheets[1] == {"branches"}
    assert "js/compare" not in she.get(address(one, two)).text


# Who may


def refusals(client, addresses) -> set[tuple[int, str]]:
    return {(reply.status_code, reply.text) for reply in map(client.get, addresses)}


def test_what_is_not_ones_own_is_like_what_does_not_exist(she, alice, bob):
    mine, his = answered(alice), answered(bob)
    gone = answered(alice, mine.parent_id)
    deleting.delete_below(gone)
    away = answered(alice)
    deleting.delete_conversation(away.conversation_id)
    unseen = [
        his.pk,
        his.parent_id,
        gone.pk,
        away.pk,
        uuid4(),
        his.conversation_id,
        "",
        "x",
        "\x00",
        "1" * 500,
    ]
    asked = [address(mine, pk) for pk in unseen] + [address(pk, mine) for pk in unseen]
    asked += [address(his, his), "/compare/", f"/compare/?a={mine.pk}", f"/compare/?b={mine.pk}"]
    (refusal,) = refusals(she, asked)
    assert refusal[0] == 404 and "There is no such page, or it is not yours to see" in refusal[1]


def test_whoever_forked_what_was_shared_cannot_compare_it_with_its_source(she, alice, bob):
    source = answered(alice)
    made = fork_shared(share(source, by=alice).token, by=bob).conversation
    he = Client()
    he.force_login(bob)
    assert refusals(he, [address(source, made.head_id), address(made.head_id, uuid4())]).pop()[0] == 404
    assert len(refusals(he, [address(source, made.head_id), address(made.head_id, uuid4())])) == 1
    assert "compare/" not in he.get(f"/c/{made.pk}/").text
    assert "compare/" not in she.get(f"/c/{source.conversation_id}/").text


@pytest.mark.parametrize("begin", ["-1", "x", "²", "1.5", "9" * 10, "\x00"])
def test_a_page_that_begins_nowhere_is_refused_in_words(she, alice, begin):
    one = ask(alice)
    reply = she.get("/compare/", {"a": one.pk, "b": one.pk, "from": begin})
    assert reply.status_code == 400 and "That request made no sense" in reply.text


# The ways in


def links_to_compare(response) -> list[str]:
    return [unescape(found) for found in re.findall(r'href="(/compare/[^"]+)"', response.text)]


def test_a_picker_leads_to_the_branch_before_it_or_else_after_it(she, alice):
    one = ask(alice)
    two, three = answered(alice, one.parent_id), answered(alice, one.parent_id)
    for row, pair in ((one, (one, two)), (two, (one, two)), (three, (two, three))):
        page = she.get(f"/c/{row.conversation_id}/?at={row.pk}")
        assert links_to_compare(page) == [address(*pair)]
        assert sides(she.get(links_to_compare(page)[0])) == ([pair[0].pk], [pair[1].pk])


def test_where_there_is_no_picker_there_is_nothing_to_compare(she, alice):
    assert links_to_compare(she.get(f"/c/{ask(alice).conversation_id}/")) == []


def test_two_branches_are_chosen_on_the_map(she, alice):
    one = ask(alice)
    two = answered(alice, one.parent_id)
    where = f"/c/{one.conversation_id}/map/"
    assert 'href="?choose=1"' in she.get(where).text
    first = Page(she.get(f"{where}?choose=1"))
    assert [attribute(it, "value") for it in first.all("button", name="a")] == [
        str(pk) for pk in (one.parent_id, one.pk, two.pk)
    ]
    second = Page(she.get(f"{where}?a={one.pk}"))
    assert attribute(second.one("input", name="a"), "value") == str(one.pk)
    assert [attribute(it, "value") for it in second.all("button", name="b", aria_current="true")] == [
        str(one.pk)
    ]
    assert (
        second.all("form", action="/compare/")
        and "formaction" not in she.get(f"{where}?a={one.pk}").text.split("<ol")[1].split("</ol")[0]
    )


def test_a_map_does_not_begin_with_what_one_may_not_see(she, alice, bob):
    mine, his = ask(alice), ask(bob)
    where = f"/c/{mine.conversation_id}/map/?a="
    assert len(refusals(she, [f"{where}{pk}" for pk in (his.pk, uuid4(), "x", "")])) == 1
    assert she.get(f"{where}{his.pk}").status_code == 404


def test_a_map_keeps_what_was_chosen_on_all_its_pages(she, alice, monkeypatch):
    monkeypatch.setattr("chatapp.branches.page.map.WINDOW", 2)
    answers = chain(alice, 3)
    where = f"/c/{answers[0].conversation_id}/map/"
    assert f'href="?from=4&amp;a={answers[0].pk}"' in she.get(f"{where}?from=2&a={answers[0].pk}").text
    assert 'href="?from=0&amp;choose=1"' in she.get(f"{where}?from=2&choose=1").text


def test_a_fork_and_its_source_lead_to_both_side_by_side(she, alice):
    source = answered(alice)
    made = fork(source, by=alice).conversation
    wanted = address(source, made.head_id)
    for pk in (made.pk, source.conversation_id):
        assert links_to_compare(she.get(f"/c/{pk}/")) == [wanted]


def test_a_fork_of_what_is_gone_leads_nowhere(she, alice):
    source = answered(alice)
    made = fork(source, by=alice).conversation
    copy = Message.objects.get(pk=made.head_id)
    deleting.delete_below(Message.objects.get(pk=copy.parent_id))
    assert links_to_compare(she.get(f"/c/{source.conversation_id}/")) == []
    deleting.delete_below(source)
    assert links_to_compare(she.get(f"/c/{made.pk}/")) == []


def test_an_answer_whose_record_is_damaged_is_shown_as_far_as_it_goes(she, alice):
    one = answered(alice)
    two = answered(alice, one.parent_id)
    for damage in ([], "x", {"timings_ms": {"rs_1": {"start": 5, "end": 1}}, "rounds": [{"usage": "x"}]}):
        Message.objects.filter(pk=two.pk).update(
            metadata=damage if isinstance(damage, dict) else {"rounds": damage}
        )
        assert sides(she.get(address(one, two))) == ([one.pk], [two.pk])
    Item.objects.filter(message=two).delete()
    assert shown(she.get(address(one, two)))[-1] == two.pk
