"""What holds for every branch: nothing that a provider would refuse goes out, and what went out once stays as it was."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest

pytest.importorskip("hypothesis", reason="hypothesis is not installed: the laws of the fold are not tested")

from hypothesis import given
from hypothesis import strategies as st

from chatapp.core.contracts import Repair, ReplayScope
from chatapp.core.history import GO_ON, History, Logged, Question, Response, SendableItem, Step, Target, fold
from chatapp.core.items import FROM_MODEL, Item, KeyMaker, Kind

from .branches import answer, call, cut, question, result, target, thought, words

CHAT = target("a", dialect="chat")
MODELS = [target("a"), target("b"), target("c", provider="q"), CHAT]
RULES = [
    target("a"),
    target("a", sealed=True, blank_text=True),
    target("a", scope=ReplayScope.TOOL_TURNS),
    target("a", scope=ReplayScope.NONE),
    target("a", thinking=False),
    target("a", signed=True, scope=ReplayScope.NONE),
    CHAT,
    target("a", dialect="chat", signed=True, scope=ReplayScope.NONE),
    target("b"),
    target("c", provider="q"),
]
WIRES = [
    {"id": "x"},
    {"id": "y", "encrypted_content": "gAAA"},
    {"encrypted_content": "gBBB"},
    {"id": ["x"]},
    None,
    "x",
]
KINDS = st.sampled_from([Kind.REASONING, Kind.REASONING, Kind.TOOL_CALL, Kind.ASSISTANT_MESSAGE])


@st.composite
def said(draw: st.DrawFn, by: Target, keys: KeyMaker, number: int) -> list[Item]:
    """One round as a model says it, with the results of its calls."""
    items = list[Item]()
    for kind in draw(st.lists(KINDS, max_size=5)):
        make = {Kind.REASONING: thought, Kind.TOOL_CALL: call, Kind.ASSISTANT_MESSAGE: words}[kind]
        key = keys.take(draw(st.sampled_from([None, "rs", "fc"])))
        more = {"wire": draw(st.sampled_from(WIRES))} if draw(st.booleans()) else {}
        items.append(
            make(key, by=by, text=draw(st.sampled_from(["Hm.", "Yes.", " ", ""])), round=number, **more)
        )
    calls = [item for item in items if item.kind is Kind.TOOL_CALL]
    for one in draw(st.permutations(calls)) if draw(st.booleans()) else calls[1:]:
        items.append(result(one.key, text=f"of {one.key}", round=number))
    return items


@st.composite
def answers(draw: st.DrawFn) -> Logged:
    """An answer as the loop leaves it: a round that another one follows has called, or was cut."""
    by, keys, items = draw(st.sampled_from(MODELS)), KeyMaker(), list[Item]()
    last = draw(st.integers(0, 3))
    for number in range(last + 1):
        spoken = draw(said(by, keys, number))
        called = any(item.kind is Kind.TOOL_CALL for item in spoken)
        if draw(st.booleans()) and (draw(st.booleans()) or not called):
            spoken = [cut(item) if item.kind in FROM_MODEL else item for item in spoken]
        elif number < last and not called:
            key = keys.take()
            spoken += [call(key, by=by, round=number), result(key, round=number)]
        items += spoken
    return answer(*items)


@st.composite
def branches(draw: st.DrawFn) -> list[Logged]:
    given = draw(st.lists(answers(), min_size=1, max_size=4))
    return [message for n, one in enumerate(given) for message in (question(f"Q{n}"), one)]


TARGETS = st.sampled_from(RULES)
CAPS = st.none() | st.integers(0, 3)
PLACES = st.tuples(st.integers(0, 3), st.integers(0, 3))


def refused(branch: list[Logged], place: tuple[int, int] | None, to: Target) -> list[Logged]:
    """The branch with a round that needed a repair."""
    if place is None or 2 * place[0] + 1 >= len(branch):
        return branch
    at, number = 2 * place[0] + 1, place[1]
    learned = {number: (f"{to.provider}:{to.model}", [Repair.STALE])}
    return [*branch[:at], Logged("assistant", branch[at].items, learned), *branch[at + 1 :]]


def parts(history: History) -> Iterator[tuple[Response, SendableItem]]:
    return ((step, part) for step in history.steps if isinstance(step, Response) for part in step.parts)


@given(branches(), TARGETS, CAPS, st.none() | PLACES)
def test_no_thought_goes_to_another_model_or_stands_alone(
    branch: list[Logged], to: Target, cap: int | None, place: tuple[int, int] | None
):
    history = fold([*refused(branch, place, to), question(), answer()], to, cap=cap)
    for response, part in parts(history):
        if part.item.kind is Kind.REASONING:
            after = response.parts if to is CHAT else response.parts[response.parts.index(part) + 1 :]
            assert part.verbatim and not part.item.cut
            assert (part.item.provider, part.item.dialect, part.item.model) == (
                to.provider,
                to.dialect,
                to.model,
            )
            assert any(other.item.kind is not Kind.REASONING for other in after)


@given(branches(), TARGETS, CAPS, st.none() | PLACES)
def test_every_thought_is_counted_once(
    branch: list[Logged], to: Target, cap: int | None, place: tuple[int, int] | None
):
    history = fold([*refused(branch, place, to), question(), answer()], to, cap=cap)
    thoughts = [item for message in branch for item in message.items if item.kind is Kind.REASONING]
    sent = [part for _, part in parts(history) if part.item.kind is Kind.REASONING]
    assert history.replayed == len(sent)
    assert history.replayed + sum(history.dropped.values()) == len(thoughts)


@given(branches(), TARGETS, CAPS)
def test_every_call_goes_with_its_one_result_and_every_result_with_its_call(
    branch: list[Logged], to: Target, cap: int | None
):
    for step in fold([*branch, question(), answer()], to, cap=cap).steps:
        if isinstance(step, Response):
            calls = [part for part in step.parts if part.item.kind is Kind.TOOL_CALL]
            assert [part.call_id for part in calls] == [given.call_id for given in step.results]
            assert all(
                given.text == f"of {part.item.key}" or given.outcome == "unknown" or given.text == "[2,3]"
                for part, given in zip(calls, step.results, strict=True)
            )


@given(branches(), TARGETS)
def test_neutral_call_ids_are_all_different(branch: list[Logged], to: Target):
    history = fold([*branch, question(), answer()], to)
    given = [
        part.call_id for _, part in parts(history) if part.item.kind is Kind.TOOL_CALL and not part.verbatim
    ]
    assert len(set(given)) == len(given)


@given(branches(), TARGETS, CAPS, st.none() | PLACES)
def test_no_id_goes_out_twice_and_none_without_those_around_it(
    branch: list[Logged], to: Target, cap: int | None, place: tuple[int, int] | None
):
    history = fold([*refused(branch, place, to), question(), answer()], to, cap=cap)
    ids = [part.item.wire["id"] for _, part in parts(history) if part.with_id]
    assert len(set(ids)) == len(ids)
    assert all(part.verbatim for _, part in parts(history) if part.with_id)
    for response in (step for step in history.steps if isinstance(step, Response)):
        for one, following in zip(response.parts, response.parts[1:], strict=False):
            opens = following.item.kind is Kind.REASONING and one.item.kind is not Kind.REASONING
            if one.item.kind is Kind.REASONING and not opens:
                assert one.with_id == following.with_id


@given(branches(), TARGETS, CAPS)
def test_everything_else_that_was_said_goes_back_in_order(branch: list[Logged], to: Target, cap: int | None):
    history = fold([*branch, question(), answer()], to, cap=cap)
    said = [item for message in branch for item in message.items if item.kind in FROM_MODEL]
    plain = [item for item in said if goes_without_thoughts(item)]
    sent = [part.item for _, part in parts(history)]
    assert [item for item in sent if item.kind is not Kind.REASONING and item.text.strip()] == [
        item for item in plain if item.text.strip()
    ]
    order = [id(item) for item in said]
    assert [order.index(id(item)) for item in sent] == sorted(order.index(id(item)) for item in sent)


def goes_without_thoughts(item: Item) -> bool:
    return item.kind is Kind.ASSISTANT_MESSAGE or (item.kind is Kind.TOOL_CALL and not item.cut)


# What went out once stays as it was


def asked_before(branch: list[Logged]) -> Iterator[tuple[tuple[int, int], list[Logged]]]:
    """Every request that led to this branch: its place, and the log as it was then."""
    for at, message in enumerate(branch):
        if message.role == "assistant":
            rounds = max((item.round for item in message.items), default=0)
            for number in range(rounds + 1):
                items = [item for item in message.items if item.round < number]
                learned = {n: what for n, what in message.repaired.items() if n <= number}
                yield (at, number), [*branch[:at], Logged("assistant", items, learned)]


def assert_start(earlier: tuple[Step, ...], later: tuple[Step, ...]) -> None:
    """A last word that asked to go on may give way to a new question, where nothing came of it. A question that nothing came of
    grows by the one after it: what it said before stays its beginning."""
    steps, of = one_by_one(earlier), one_by_one(later)
    if steps and steps[-1] == Question(GO_ON) and steps != of[: len(steps)]:
        steps = steps[:-1]
        assert isinstance(of[len(steps)], Question)
    assert steps == of[: len(steps)]


def one_by_one(steps: tuple[Step, ...]) -> list[Step]:
    return [
        each
        for step in steps
        for each in (map(Question, step.texts) if isinstance(step, Question) else (step,))
    ]


@given(branches(), TARGETS, CAPS)
def test_no_two_questions_stand_side_by_side(branch: list[Logged], to: Target, cap: int | None):
    steps = fold([*branch, question(), answer()], to, cap=cap).steps
    for one, after in pairwise(steps):
        assert not (isinstance(one, Question) and isinstance(after, Question))


@given(branches(), TARGETS)
def test_every_request_starts_with_all_that_was_sent_before_it(branch: list[Logged], to: Target):
    whole = fold([*branch, question(), answer()], to).steps
    for _, then in asked_before(branch):
        assert_start(fold(then, to).steps, whole)


@given(branches(), TARGETS, PLACES)
def test_after_a_repair_requests_grow_again(branch: list[Logged], to: Target, place: tuple[int, int]):
    branch = refused(branch, place, to)
    whole = fold([*branch, question(), answer()], to).steps
    for (at, number), then in asked_before(branch):
        if (at, number) >= (2 * place[0] + 1, place[1]):
            assert_start(fold(then, to).steps, whole)


@given(branches(), TARGETS)
def test_a_fork_sends_what_its_source_sent(branch: list[Logged], to: Target):
    copied = [Logged(message.role, list(message.items), dict(message.repaired)) for message in branch]
    assert fold([*copied, question(), answer()], to) == fold([*branch, question(), answer()], to)
