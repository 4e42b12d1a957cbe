"""The demo: a believable and honest stand-in, played here through whole turns with the real fold and the real tools."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import pytest
from jsonschema import Draft202012Validator

from chatapp.core.draft import Draft
from chatapp.core.events import Event, Finish, ItemDelta, ItemDone, ItemStarted, ResponseEnded
from chatapp.core.history import GO_ON, History, Logged, Target, fold
from chatapp.core.items import Item, KeyMaker, Kind, Outcome
from chatapp.providers.base import OFF, Ask, ProviderError, ToolSpec
from chatapp.providers.demo import DemoProvider
from chatapp.providers.demo.topics import topics
from chatapp.tools import TOOLS
from chatapp.tools.base import Tool

EVERY_TOOL = tuple(TOOLS.values())


@dataclass
class Talk:
    """A conversation with the demo, one branch of it."""

    demo: DemoProvider
    log: list[Logged] = field(default_factory=list)
    conversation: str = "c1"
    now: Callable[[], float] = float
    draft: Draft = field(default_factory=Draft)
    model: str = "thinker"

    def ask(self, question: str, **how: object) -> list[Item]:
        """The items of the answer; calls are made for real."""
        self.log.append(Logged("user", [Item(key="q", kind=Kind.USER_MESSAGE, text=question)]))
        return self.answer(**how)

    def ask_again(self, **how: object) -> list[Item]:
        self.log.pop()
        return self.answer(**how)

    def answer(
        self, effort: str = "", tools: Sequence[Tool] = EVERY_TOOL, may_call: bool = True, outcome: str = ""
    ) -> list[Item]:
        items: list[Item] = []
        self.log.append(Logged("assistant", items))
        keys = KeyMaker()
        for number in range(5):
            events = self.round(number, keys, effort, tools, may_call)
            said = [event.item for event in events if isinstance(event, ItemDone)]
            items += said
            if events[-1] == ResponseEnded(Finish.STOP):
                return items
            made = [call for call in said if call.kind is Kind.TOOL_CALL]
            items += [result(call, keys.take(), outcome, tools) for call in made]
        raise AssertionError("it never stops calling")

    def round(
        self, number: int, keys: KeyMaker, effort: str, tools: Sequence[Tool], may_call: bool
    ) -> list[Event]:
        model = self.demo.model(self.model)
        contract = self.demo.contract(model)
        target = Target(model.provider, model.dialect, model.name, contract, effort != OFF)
        specs = [ToolSpec(**tool.definition) for tool in tools]
        ask = Ask(
            model=model,
            contract=contract,
            history=fold(self.log, target),
            conversation=self.conversation,
            tools=specs,
            effort=effort,
            may_call=may_call,
            round=number,
        )
        return asyncio.run(self.stream(ask, keys))

    async def stream(self, ask: Ask, keys: KeyMaker) -> list[Event]:
        events = []
        async for event in self.demo.stream(ask, keys):
            self.draft.apply(event, self.now() * 1000)
            events.append(event)
        return events


def result(call: Item, key: str, outcome: str, tools: Sequence[Tool]) -> Item:
    (tool,) = (tool for tool in tools if tool.name == call.name)
    output = asyncio.run(tool.run(call.text))
    return Item(
        key=key,
        kind=Kind.TOOL_RESULT,
        text="" if outcome else output.text,
        name=call.name,
        call_id=call.call_id,
        round=call.round,
        outcome=outcome or output.outcome,
    )


async def no_sleep(seconds: float) -> None:
    pass


@pytest.fixture
def talk() -> Talk:
    return Talk(DemoProvider(sleep=no_sleep))


def thoughts(items: Sequence[Item]) -> list[str]:
    return [item.text for item in items if item.kind is Kind.REASONING]


def words(items: Sequence[Item]) -> str:
    return "\n\n".join(item.text for item in items if item.kind is Kind.ASSISTANT_MESSAGE)


def kinds(items: Sequence[Item]) -> list[str]:
    return [item.kind.value for item in items]


# What it is


def test_it_is_labelled_as_a_demo_everywhere():
    demo = DemoProvider()
    assert (demo.endpoint.name, demo.endpoint.dialect, demo.endpoint.label) == (
        "demo",
        "demo",
        "Demo (not a real model)",
    )
    model, quick = asyncio.run(demo.list_models())
    assert (model, quick) == (demo.model("thinker"), demo.model("talker"))
    assert (quick.id, quick.demo, quick.label) == (
        "demo:talker",
        True,
        "Demo that thinks little (not a real model)",
    )
    assert (model.id, model.demo, model.label) == ("demo:thinker", True, "Demo (not a real model)")
    assert model.efforts == (OFF, "low", "medium", "high")
    assert demo.contract(model).dialect == "demo"


QUESTIONS = [
    "Hello!",
    "Who are you?",
    "Explain quantum computing to me.",
    "Write a poem about the sea",
    "What is 17 * 23?",
    "What time is it in Tokyo?",
    "How do I add an API key?",
    "Which models can I choose?",
    "How do branches work?",
    "How long did you think?",
    "How do I share this conversation?",
    "Can I export everything?",
    "Tell me about the local model",
    "What tools do you have?",
    "Write a Python function",
    "Show me a table",
    "Show me a formula",
    "Do you remember anything?",
    "Thanks!",
    "Bye",
    "",
    "?",
    "¿Qué es esto?",
    "x" * 100_000,
]


@pytest.mark.parametrize("effort", ["", OFF, "low", "medium", "high", "unheard of"])
@pytest.mark.parametrize("question", QUESTIONS)
def test_every_answer_obeys_the_rules_of_streams(talk: Talk, question: str, effort: str):
    talk.ask(question, effort=effort)
    talk.log.pop()
    talk.log.append(Logged("assistant", []))
    events = talk.round(0, KeyMaker(), effort, EVERY_TOOL, True)
    draft = Draft()
    for n, event in enumerate(events):
        if isinstance(event, ItemDelta):
            assert event.text and draft.pieces[event.key].done is None
        if isinstance(event, ItemDone):
            assert draft.pieces[event.item.key].said() == event.item.text
        draft.apply(event, float(n))
    assert not draft.open_keys()
    assert [n for n, event in enumerate(events) if isinstance(event, ResponseEnded)] == [len(events) - 1]


@pytest.mark.parametrize("question", QUESTIONS)
def test_items_say_who_made_them_and_in_which_round(talk: Talk, question: str):
    items = [item for item in talk.ask(question, effort="high") if item.kind is not Kind.TOOL_RESULT]
    assert {(item.provider, item.dialect, item.model) for item in items} == {("demo", "demo", "thinker")}
    assert [item.round for item in items] == sorted(item.round for item in items)
    assert all(isinstance(item.wire, dict) and json.dumps(item.wire) for item in items)


REAL_QUESTIONS = [
    "Explain quantum computing to me.",
    "Write a poem about the sea",
    "Who are you?",
    "Are you ChatGPT?",
    "Write a Python function that sorts",
    "Compare cats and dogs",
    "Prove the theorem of Pythagoras",
    "What is 17 * 23?",
    "What time is it?",
    "Do you remember anything?",
]


@pytest.mark.parametrize("question", REAL_QUESTIONS)
@pytest.mark.parametrize("times", range(3))
def test_it_says_that_it_is_a_demo_whenever_it_is_asked_anything_real(talk: Talk, question: str, times: int):
    items = talk.ask(question)
    for _ in range(times):
        items = talk.ask_again()
    assert "demo" in words(items).lower() or "stand-in" in words(items) or "real model" in words(items)


@pytest.mark.parametrize("topic", topics().values(), ids=lambda topic: topic.name)
def test_every_topic_has_three_thoughts_and_more_than_one_answer(topic):
    assert len(topic.thoughts) == 3 and all(topic.thoughts)
    assert all(topic.answers) and len(topic.answers) > 1
    assert bool(topic.phrases) is (topic.name not in ("calling", "general"))
    assert "I am a model" not in " ".join(topic.answers)


@pytest.mark.parametrize("question", QUESTIONS)
def test_nothing_unfilled_is_left_in_its_texts(talk: Talk, question: str):
    items = talk.ask(question, effort="high")
    for again in (items, talk.ask_again(), talk.ask_again()):
        assert "«" not in "".join(item.text for item in again)


# Its other model, and its failure


def test_its_other_model_thinks_less_and_says_it_sooner():
    def asked(model: str) -> tuple[int, float]:
        pauses: list[float] = []

        async def note(seconds: float) -> None:
            pauses.append(seconds)

        talk = Talk(DemoProvider(sleep=note), model=model)
        return len(thoughts(talk.ask("How do branches work?"))), sum(pauses)

    (many, long), (few, short) = asked("thinker"), asked("talker")
    assert (many, few) == (2, 1)
    assert short < long / 2


def test_one_model_of_it_does_not_get_the_thoughts_of_the_other(talk: Talk):
    talk.ask("How do branches work?")
    talk.model = "talker"
    assert "no thoughts of earlier turns" in words(talk.ask("What do you remember?"))


def test_it_fails_when_it_is_asked_to_and_answers_when_it_is_asked_again(talk: Talk):
    with pytest.raises(ProviderError, match="because you asked it to") as failed:
        talk.ask("Show me what an error looks like")
    assert "demo_failure" in failed.value.raw
    assert "I am a demo" in words(talk.ask_again())


# What it answers


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How do I set up OpenAI?", "OPENAI_API_KEY"),
        ("How do branches work?", "1 / 2"),
        ("Write a Python function", "```python"),
        ("Show me a table", "| --- |"),
        ("Show me a formula", "$$"),
        ("What can you do?", "What is 37 * 41?"),
        ("Tell me about the local model", "135 million"),
    ],
)
def test_it_answers_by_what_the_question_is_about(talk: Talk, question: str, answer: str):
    answers = [words(talk.ask(question)), words(talk.ask_again())]
    assert any(answer in text for text in answers)


def test_a_question_it_does_not_know_is_quoted_and_not_answered(talk: Talk):
    text = words(talk.ask("Who won the war of the roses?"))
    assert "Who won the war of the roses?" in text


def test_a_quoted_question_cannot_break_the_answer(talk: Talk):
    question = (
        "Explain ```\n\n# this\n\n| and | <b>that</b> $$ ![x](http://e.example/y.png) «tools» "
        + "long " * 100
    )
    for items in (talk.ask(question), talk.ask_again(), talk.ask_again()):
        text = words(items)
        assert not any(sign in text for sign in ("```", "\n# this", "<b>", "$$", "![", "](", "long " * 30))


def test_asking_again_gives_another_answer_and_the_same_one_never_twice_in_a_row(talk: Talk):
    answers = [words(talk.ask("How do branches work?")), *(words(talk.ask_again()) for _ in range(3))]
    assert all(first != second for first, second in pairwise(answers))


def test_it_is_deterministic():
    conversations = [Talk(DemoProvider(sleep=no_sleep)) for _ in range(2)]
    first, second = ([talk.ask(question) for question in QUESTIONS[:4]] for talk in conversations)
    assert first == second


def test_it_forgets_questions_that_were_asked_long_ago():
    demo = DemoProvider(sleep=no_sleep, keeps=3)
    first = words(Talk(demo, conversation="c0").ask("Hello"))
    for n in range(1, 4):
        Talk(demo, conversation=f"c{n}").ask("Hello")
    assert words(Talk(demo, conversation="c0").ask("Hello")) == first
    assert words(Talk(demo, conversation="c0").ask("Hello")) != first


# Thoughts


@pytest.mark.parametrize(
    ("effort", "number"), [(OFF, 0), ("low", 1), ("medium", 2), ("high", 3), ("", 2), ("x", 2)]
)
def test_effort_changes_the_number_of_thoughts(talk: Talk, effort: str, number: int):
    assert len(thoughts(talk.ask("Explain quantum computing to me.", effort=effort))) == number
    assert len(thoughts(talk.ask("What is 17 * 23?", effort=effort))) == number


def test_with_high_effort_it_thinks_between_its_paragraphs(talk: Talk):
    assert kinds(talk.ask("Who are you?", effort="high")) == [
        "reasoning",
        "reasoning",
        "assistant_message",
        "reasoning",
        "assistant_message",
    ]


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize(
    ("effort", "least", "most"), [("low", 400, 2500), ("medium", 800, 4000), ("high", 800, 4000)]
)
def test_it_thinks_at_a_believable_pace(question: str, effort: str, least: int, most: int):
    clock = [0.0]

    async def tick(seconds: float) -> None:
        clock[0] += seconds

    talk = Talk(DemoProvider(sleep=tick), now=lambda: clock[0])
    keys = [item.key for item in talk.ask(question, effort=effort)]
    thought = sum(talk.draft.durations(keys, clock[0]).values())
    assert least <= thought <= most
    assert clock[0] < 12


def test_speed_divides_all_pauses():
    def waited(speed: float) -> float:
        pauses: list[float] = []

        async def note(seconds: float) -> None:
            pauses.append(seconds)

        Talk(DemoProvider(sleep=note, speed=speed)).ask("Hello")
        return sum(pauses)

    assert waited(4) == pytest.approx(waited(1) / 4)


def test_closing_the_stream_ends_it_at_once(talk: Talk):
    async def first_event() -> Event:
        talk.log.append(Logged("user", [Item(key="q", kind=Kind.USER_MESSAGE, text="Hello")]))
        model = talk.demo.model()
        contract = talk.demo.contract(model)
        history = fold(talk.log, Target("demo", "demo", "thinker", contract))
        events = talk.demo.stream(Ask(model=model, contract=contract, history=history), KeyMaker())
        first = await anext(events)
        await events.aclose()
        with pytest.raises(StopAsyncIteration):
            await anext(events)
        return first

    assert isinstance(asyncio.run(first_event()), ItemStarted)


# Memory


def test_it_counts_the_thoughts_that_came_back_to_it(talk: Talk):
    assert "no thoughts of earlier turns" in words(talk.ask("What do you remember?"))
    first = thoughts(talk.ask("Hello", effort="high"))
    talk.log = talk.log[2:]
    text = words(talk.ask("What do you remember?"))
    assert "**3 thoughts of earlier turns**" in text and first[0][:60] in text
    talk.ask("What is 17 * 23?")
    assert "**7 thoughts" in words(talk.ask("Do you still remember?"))


def test_thoughts_that_were_left_out_are_counted_with_the_reason(talk: Talk):
    items = talk.ask("Hello")
    talk.log[-1] = Logged("assistant", [replace(item, model="another") for item in items])
    text = words(talk.ask("What do you remember?"))
    assert "no thoughts of earlier turns" in text and "2 (model changed)" in text


# Tools


def test_it_computes_with_the_calculator_between_two_thoughts(talk: Talk):
    items = talk.ask("What is 17 * 23?")
    assert kinds(items) == ["reasoning", "tool_call", "tool_result", "reasoning", "assistant_message"]
    assert items[1].name == "calculator" and json.loads(items[1].text) == {"expression": "17 * 23"}
    assert items[1].call_id == items[2].call_id != ""
    assert "*calculator* says: `391`" in words(items)


def test_it_calls_a_tool_once_for_each_text_that_it_finds_for_it(talk: Talk):
    items = talk.ask("What time is it in Asia/Tokyo and America/New_York?")
    calls = [json.loads(item.text) for item in items if item.kind is Kind.TOOL_CALL]
    assert calls == [{"zone": "Asia/Tokyo"}, {"zone": "America/New_York"}]
    assert len({item.call_id for item in items if item.kind is Kind.TOOL_CALL}) == 2
    assert "(Asia/Tokyo)" in words(items) and "(America/New_York)" in words(items)


def test_it_would_read_the_page_whose_address_is_given(talk: Talk):
    items = talk.ask("Read https://example.org/a?b=c, please", outcome=Outcome.DENIED)
    (call,) = [item for item in items if item.kind is Kind.TOOL_CALL]
    assert (call.name, json.loads(call.text)) == ("read_page", {"url": "https://example.org/a?b=c"})
    assert "did not allow the tool *read_page*" in words(items)
    assert "permission" not in words(items) and "real tool call" not in words(items)


def test_a_refusal_of_a_tool_is_passed_on(talk: Talk):
    text = words(talk.ask("What is 9**9**9?"))
    assert "could not do it" in text and "at most about 3,900 digits" in text


def test_a_long_result_stays_inside_its_fence(talk: Talk):
    text = words(talk.ask("What is 2**5000?"))
    assert "```text\n1412467032139426" in text and " …\n```" not in text.partition("```text")[0]
    assert len(text) < 3000


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        (Outcome.DENIED, "did not allow"),
        (Outcome.STOPPED, "interrupted"),
        (Outcome.UNKNOWN, "interrupted"),
    ],
)
def test_a_call_without_a_result_is_said_to_have_none(talk: Talk, outcome: Outcome, said: str):
    assert said in words(talk.ask("What is 17 * 23?", outcome=outcome))


@pytest.mark.parametrize("how", [{"tools": ()}, {"tools": (TOOLS["clock"],)}, {"may_call": False}])
def test_without_the_tool_it_does_not_guess(talk: Talk, how: dict[str, object]):
    items = talk.ask("What is 17 * 23?", **how)
    assert Kind.TOOL_CALL not in {item.kind for item in items}
    assert "391" not in words(items)


def test_it_answers_when_it_may_not_call_any_more(talk: Talk):
    talk.ask("What is 17 * 23?")
    items = list(talk.log[-1].items)
    talk.log[-1] = Logged("assistant", [item for item in items if item.round == 0])
    events = talk.round(1, KeyMaker(), "", EVERY_TOOL, False)
    assert events[-1] == ResponseEnded(Finish.STOP)


@pytest.mark.parametrize(
    ("question", "calls"),
    [
        ("How much is 14 * 60 * 0.8?", ['{"expression": "14 * 60 * 0.8"}']),
        ("calculate (2+3)*4, please", ['{"expression": "(2+3)*4"}']),
        ("what is sqrt(2)?", ['{"expression": "sqrt(2)"}']),
        ("What is 100 - 7?", ['{"expression": "100 - 7"}']),
        ("I paid 3.50 + 4.20 euros (in cash).", ['{"expression": "3.50 + 4.20"}']),
        ("Calculator: max(3, 4)", ['{"expression": "max(3"}', '{"expression": "4)"}']),
        ("Calculator: `max(3, 4)`", ['{"expression": "max(3, 4)"}']),
        ("What time is it?", ["{}"]),
        ("What does http://10.0.0.1/ say?", ['{"url": "http://10.0.0.1/"}']),
        ("We met on 2026-11-18.", []),
        ("Write 3-4 sentences", []),
        ("I have 3 apples", []),
        ("Who wrote the well-known book?", []),
    ],
)
def test_what_a_tool_says_of_itself_shares_words_with_the_question(
    talk: Talk, question: str, calls: list[str]
):
    assert called(talk.ask(question, outcome=Outcome.DENIED)) == calls


def called(items: Sequence[Item]) -> list[str]:
    return [item.text for item in items if item.kind is Kind.TOOL_CALL]


def offered(name: str, *required: str, defined: object = None, says: str = "", **properties: object) -> Tool:
    """Of an MCP server, which answers with what it got."""

    async def call(arguments: dict[str, object], report: object) -> str:
        Draft202012Validator(schema).validate(arguments)
        return "It fits."

    schema = {"type": "object", "properties": properties, "required": [*required], "$defs": defined or {}}
    return Tool(name=f"house__{name}", description=says, schema=schema, call=call, server="house")


TEXT = {"type": "string"}
ROOM = {"type": "object", "properties": {"name": TEXT, "floor": {"type": "integer"}}, "required": ["name"]}
MANY = [
    offered("echo", "text", text=TEXT),
    offered("move_file", "source", "target", source=TEXT, target=TEXT),
    offered("set_lamp", "level", "colour", level={"type": "integer"}, colour={"enum": ["white", "red"]}),
    offered("openDoor", "door", "slowly", door={"const": "front"}, slowly={"type": "boolean"}),
    offered(
        "heat", "room", "by", room={"$ref": "#/$defs/Room"}, by={"type": "number"}, defined={"Room": ROOM}
    ),
    offered("paint", "walls", walls={"type": "array", "items": {"anyOf": [TEXT, {"type": "null"}]}}),
    offered("weather", city={"type": ["string", "null"], "description": "Where the forecast is wanted."}),
    offered("mirror", "any", any=True),
    offered("deep", "in", **{"in": {"$ref": "#"}}),
    offered("show"),
]


@pytest.mark.parametrize(
    ("question", "calls"),
    [
        ("Echo hello world, please", ['{"text": "hello world"}']),
        ('Echo "the whole of this"', ['{"text": "the whole of this"}']),
        ("move file a.txt to b/c.txt", ['{"source": "a.txt", "target": "b/c.txt"}']),
        ("move the file", []),
        ("set the lamp to 40, red", ['{"level": 40, "colour": "red"}']),
        ("set the lamp to 40", ['{"level": 40, "colour": "white"}']),
        ("Set the lamp!", []),
        ("Open the door", ['{"door": "front", "slowly": false}']),
        ("Heat the kitchen by 2.5", ['{"room": {"name": "kitchen"}, "by": 2.5}']),
        ("Paint `north`", ['{"walls": ["north"]}']),
        ("How is the weather?", ["{}"]),
        ('Is there a forecast for "Lisbon"?', ['{"city": "Lisbon"}']),
        ("mirror this", ['{"any": null}']),
        ("deep", []),
        ("Show me the sea", []),
    ],
)
def test_tools_of_others_are_called_as_their_schemas_want_it(talk: Talk, question: str, calls: list[str]):
    items = talk.ask(question, tools=MANY)
    assert called(items) == calls
    assert not calls or "It fits." in words(items)


def test_a_tool_that_is_named_comes_before_a_topic_and_a_topic_before_what_only_shares_words(talk: Talk):
    assert called(talk.ask("Use the calculator on `2 * 3`, then explain branches")) != []
    assert called(talk.ask("How do branches keep the time of a thought?")) == []


@pytest.mark.parametrize(
    "hostile",
    [
        "-" * 5000,
        "(" * 5000,
        "1 " * 5000,
        "sqrt(" * 2000,
        "1," * 5000,
        "how long " * 1000,
        '`"' * 5000,
        "/" * 9999,
        "a/" * 5000,
    ],
)
def test_hostile_questions_are_read_quickly(talk: Talk, hostile: str):
    began = time.perf_counter()
    talk.ask(hostile)
    assert time.perf_counter() - began < 10


# Going on


def test_a_cut_answer_goes_on_exactly_where_it_was_cut(talk: Talk):
    whole = talk.ask("Explain quantum computing to me.")
    text = words(whole)
    cut = Item(key="part-9", kind=Kind.ASSISTANT_MESSAGE, text=text[:40], cut=True)
    talk.log[-1] = Logged("assistant", [cut])
    events = talk.round(1, KeyMaker(["part-9"]), "", EVERY_TOOL, True)
    rest = "".join(event.item.text for event in events if isinstance(event, ItemDone))
    assert text[:40] + rest == text


def test_a_cut_answer_after_a_tool_call_goes_on_too(talk: Talk):
    items = talk.ask("What is 17 * 23?")
    text = words(items)
    cut = replace(items[-1], text=text[:30], cut=True, wire=None)
    talk.log[-1] = Logged("assistant", [*items[:-1], cut])
    events = talk.round(2, KeyMaker(["x"]), "", EVERY_TOOL, True)
    assert text[:30] + "".join(event.item.text for event in events if isinstance(event, ItemDone)) == text


def test_a_cut_answer_that_it_does_not_know_gets_an_end(talk: Talk):
    cut = Item(key="part-0", kind=Kind.ASSISTANT_MESSAGE, text="Another model said", cut=True)
    talk.log = [
        Logged("user", [Item(key="q", kind=Kind.USER_MESSAGE, text="Why?")]),
        Logged("assistant", [cut]),
    ]
    events = talk.round(1, KeyMaker(), "", (), True)
    assert any("nothing more to say" in event.item.text for event in events if isinstance(event, ItemDone))


@pytest.mark.parametrize("log", [[], [Logged("user", [Item(key="q", kind=Kind.USER_MESSAGE, text=GO_ON)])]])
def test_a_strange_history_gets_an_answer_too(talk: Talk, log: list[Logged]):
    talk.log = log
    assert talk.round(0, KeyMaker(), "", (), True)[-1] == ResponseEnded(Finish.STOP)
    model = talk.demo.model()
    ask = Ask(model=model, contract=talk.demo.contract(model), history=History(()))
    assert asyncio.run(talk.stream(ask, KeyMaker()))
