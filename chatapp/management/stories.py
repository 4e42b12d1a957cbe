"""What the people of the seeded world asked the demo, and what they did with its answers: each story is one conversation."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.utils import timezone

from chatapp.core.permission import Decision
from chatapp.management.telling import TALKER, Story, Teller
from chatapp.models import Look, Scope, Verdict
from chatapp.store.forking import Extent

TEACHER = "You are a patient teacher. Explain with one example, avoid long lists, and end with a question back to me."


async def branches(tell: Teller) -> None:
    first = await tell.ask("How do branches work here?", effort="high")
    await tell.again(first, model=TALKER)
    remembered = await tell.ask("What do you remember of your earlier thoughts?", below=first)
    long = await tell.ask("How long did you think about all of this?", effort="high")
    await tell.again(long, effort="low")
    await tell.edit(remembered, "How do I export this as Markdown, with the thoughts in it?")
    await tell.edit(first, "How do branches work, and what happens to the thoughts on each of them?")
    await tell.return_to(long)
    await tell.title("How branches work")
    await tell.submit(long, "Does every branch say the same about what is kept?", Scope.TREE)
    await tell.pin()
    await tell.looked_at_by("dana")


async def release_notes(tell: Teller) -> None:
    await tell.ask("Which tools do you have here?")
    await tell.ask(
        "Then read https://docs.djangoproject.com/en/5.2/releases/5.2/ and tell me what is new for async views."
    )


async def invoice(tell: Teller) -> None:
    await tell.ask("What is 1,284 * 0.175?", effort="high")
    second = await tell.ask("And (1284 - 224.7) / 12?")
    edited = await tell.edit(second, "And (1284 - 224.7) / 24, if I pay over two years?")
    last = await tell.ask(
        "What time is it in Tokyo, Berlin and New York? I have to call all three.", effort="high"
    )
    await tell.title("Instalments, and when to call")
    review = await tell.submit(last, "May I send these figures to the customer?")
    await tell.claim(review, "bob")
    await tell.note(review, "bob", edited, "The rate is right. Is the deposit taken off before or after tax?")


async def duration_function(tell: Teller) -> None:
    first = await tell.ask("Write a Python function that puts a duration into words", words_heard=75)
    whole = await tell.again(first, effort="high")
    await tell.ask("Thanks!", below=whole)
    await tell.return_to(first)


async def failure(tell: Teller) -> None:
    await tell.ask("What can you do?")
    await tell.ask("Show me what a failure looks like")
    await tell.looked_at_by("dana")
    await tell.looked_at_by("dana", Look.What.SEARCH)
    await tell.wished_by("dana", "I would like somebody to look at how this failed.")


async def formula(tell: Teller) -> None:
    await tell.ask("Show me a formula, for the seminar on Monday", effort="high")
    table = await tell.ask("Compare the thinking efforts in a table", effort="medium")
    await tell.title("A formula for the seminar")
    await tell.share(table, opened=14)
    until = timezone.now() + timedelta(days=7)
    await tell.share(table, opened=3, with_thoughts=False, with_tools=False, expires_at=until)
    await tell.revoke(await tell.share(table, opened=1))


async def teacher(tell: Teller) -> None:
    await tell.ask("Which models are there, and when should I change the model?", instructions=TEACHER)
    again = await tell.ask("Which effort would you set: should it think harder?", effort="low")
    harder = await tell.again(again, effort="high")
    await tell.title("Choosing a model, taught patiently")
    review = await tell.submit(harder, "Is this patient enough for the newcomers' page?")
    await tell.claim(review, "bob")
    note = await tell.note(
        review, "bob", harder, "It ends without the question that your instructions ask for."
    )
    await tell.judge(
        review, "bob", Verdict.NEEDS_WORK, "Good in itself; ask again with the question at the end."
    )
    await tell.answer_note(review, note, "I see, I shall ask it once more.")


async def first_evening(tell: Teller) -> None:
    await tell.ask("Hello!")
    await tell.ask("What can you do?")
    await tell.ask("Which tools do you have?", effort="high")
    await tell.ask("What is 37 * 41?")
    await tell.ask("How long did you think about that?")
    sharing = await tell.ask("How do I share this conversation with my sister?")
    await tell.again(sharing)
    await tell.ask("What do you remember?", effort="high")
    await tell.ask("Which formats can I export to?")
    await tell.ask("Nice, thank you")
    await tell.ask("Good night")
    await tell.title("A first evening with the demo")


async def stopped_table(tell: Teller) -> None:
    first = await tell.ask("Make a table of what is kept of a thought", words_heard=60)
    await tell.go_on(first)


async def sky(tell: Teller) -> None:
    first = await tell.ask("Why is the sky blue at noon and red in the evening?", effort="high")
    await tell.again(first, model=TALKER)
    await tell.again(first, effort="off")
    review = await tell.submit(first, "For the museum: is it right?")
    await tell.claim(review, "bob")
    await tell.judge(review, "bob", Verdict.APPROVED, "Right, and short enough for a wall.")


async def archived(tell: Teller) -> None:
    await tell.ask("Compare SQLite and PostgreSQL for a small team, in a table")
    await tell.ask("And how do I get all of this out again, is there an export?", effort="low")
    await tell.archive()


async def bobs_fork(tell: Teller) -> None:
    await tell.fork_shared("formula")
    await tell.ask("What do you remember of your earlier thoughts?", model=TALKER)
    await tell.ask("Show me another formula, please", effort="high")


async def bobs_denial(tell: Teller) -> None:
    asked = await tell.ask("Summarise https://example.com/pricing for me")
    await tell.decide(asked, Decision.DENIED)
    await tell.ask("Then without the page: how does it work when a tool needs permission?")


async def charlies_router(tell: Teller) -> None:
    asked = await tell.ask("What does my router say at http://192.168.178.1/status right now?")
    await tell.decide(asked, Decision.CONVERSATION)
    await tell.ask("And at http://10.0.0.1/ perhaps?", effort="high")
    await tell.title("Asking the router")


async def charlies_fork(tell: Teller) -> None:
    await tell.fork_shared("formula", with_thoughts=False)
    await tell.ask("Thanks, that is what I needed")


async def alices_fork(tell: Teller) -> None:
    await tell.fork("sky", Extent.WITH_SIDES)
    await tell.ask("Could you write a short Python script that draws the spectrum?", model=TALKER)


async def keys(tell: Teller) -> None:
    await tell.ask("How do I add an API key for Anthropic on this server?", effort="high")
    await tell.ask("Does the local model work offline?")
    await tell.ask("Are thoughts kept when I change the model?", model=TALKER)


def _asking(*words: str, **how: Any) -> Any:
    async def tell(tell: Teller) -> None:
        for each in words:
            await tell.ask(each, **how)

    return tell


def _ago(days: int = 0, hours: int = 0, minutes: int = 0) -> timedelta:
    return timedelta(days=days, hours=hours, minutes=minutes)


# In the order in which they happened, so that a link is there before somebody forks what it shows.
STORIES = (
    Story("hello", "dana", _ago(23, 4), _asking("Hello", "Who are you?", "How do I add an API key?")),
    Story("minutes", "alice", _ago(21, 2), _asking("What is 365 * 24 * 60?")),
    Story("archived", "alice", _ago(19, 6), archived),
    Story("quantum", "charlie", _ago(18, 1), _asking("Explain quantum computing to me.", effort="off")),
    Story("root", "alice", _ago(15, 3), _asking("What is sqrt(2) * 100?", "And sqrt(3) * 100?")),
    Story("haiku", "bob", _ago(14, 5), _asking("Write a haiku about waiting", model=TALKER)),
    Story("import", "bob", _ago(13, 8), _asking("Can I import my chats from elsewhere?", effort="high")),
    Story("discount", "charlie", _ago(12, 2), _asking("How much is 15 percent of 249?", effort="low")),
    Story("offline", "alice", _ago(11, 7), _asking("Does the local model work offline?")),
    Story("mcp", "dana", _ago(10, 1), _asking("What are MCP servers, and who may add one?", effort="high")),
    Story("sky", "alice", _ago(9, 5), sky),
    Story("what", "bob", _ago(8, 3), _asking("What is this place, and who are you?", "Thanks!")),
    Story("sql", "charlie", _ago(7, 9), _asking("Show me a SQL query", "And as a bash script?")),
    Story("stopped table", "alice", _ago(6, 4), stopped_table),
    Story("first evening", "alice", _ago(5, 2), first_evening),
    Story("keys", "dana", _ago(4, 6), keys),
    Story("router", "charlie", _ago(4, 1), charlies_router),
    Story("alice's fork", "alice", _ago(3, 5), alices_fork),
    Story("tip", "bob", _ago(3, 1), _asking("What is 18% of 64.50?", "And 20% of 64.50?", model=TALKER)),
    Story("teacher", "alice", _ago(2, 3), teacher),
    Story("denial", "bob", _ago(2, 1), bobs_denial),
    Story("formula", "alice", _ago(1, 0, 10), formula),
    Story("failure", "alice", _ago(1), failure),
    Story("bob's fork", "bob", _ago(0, 23), bobs_fork),
    Story("charlie's fork", "charlie", _ago(0, 20), charlies_fork),
    Story("effort", "charlie", _ago(0, 3), _asking("What is effort, and which should I choose?")),
    Story("duration function", "alice", _ago(0, 3), duration_function),
    Story("invoice", "alice", _ago(0, 2), invoice),
    Story("branches", "alice", _ago(0, 0, 55), branches),
    Story("release notes", "alice", _ago(0, 0, 9), release_notes),
)
