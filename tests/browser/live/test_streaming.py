"""What was streamed is what a reload shows: whenever one comes, however often the line breaks, in however many tabs."""

from __future__ import annotations

import random

import pytest
from playwright.sync_api import expect

from tests.browser.steered import Call, Think, Write
from tests.browser.words import RICH, THOUGHT, paragraphs

pytestmark = pytest.mark.whole_browser

MODELS = ["openai:gpt-5", "anthropic:claude-sonnet-4-6", "compatible:gpt-5"]


def pieces(words: str, count: int) -> list[str]:
    """Cut at random places, the same in every run."""
    places = sorted(random.Random(count).sample(range(1, len(words)), count - 1))
    return [words[a:b] for a, b in zip([0, *places], [*places, len(words)], strict=True)]


# What a browser does to a tab that nobody looks at: it says so, and draws no more pictures.
HIDEABLE = """(() => {
    let hidden = false, drawn = true;
    const waiting = [], draw = window.requestAnimationFrame.bind(window);
    window.requestAnimationFrame = (act) => draw((now) => (drawn ? act(now) : waiting.push(act)));
    window.draws = (does) => (drawn = does) && waiting.splice(0).forEach((act) => draw(act));
    window.waits = () => waiting.length;
    Object.defineProperty(document, "hidden", { get: () => hidden });
    Object.defineProperty(document, "visibilityState", { get: () => (hidden ? "hidden" : "visible") });
    window.hide = (is) => {
        hidden = is;
        draws(!hidden);
        document.dispatchEvent(new Event("visibilitychange"));
    };
})()"""


@pytest.mark.parametrize("model", MODELS)
def test_an_answer_with_everything_in_it_looks_the_same_streamed_and_loaded(enter, upstream, model):
    upstream.plays(Think(THOUGHT * 3), Write("Let me look.\n\n"), Call("calculator", {"expression": "6*7"}))
    upstream.plays(Think(THOUGHT), Write(RICH, pace=300))
    tab = enter(prefers={"default_model": model}).open()
    tab.ask("What holds?")
    tab.expect_as_loaded()


def test_letters_are_shown_when_they_come(enter, upstream):
    tab = enter().open()
    tab.ask("What?")
    answer = upstream.next_answer()
    said = ""
    for word in ("One", " two", " *three", "* and `fo", "ur`"):
        answer.write(word)
        said += word
        tab.expect_shown(said)
    answer.finish()
    tab.expect_text("One two three and four")
    tab.expect_as_loaded()


def test_twenty_reloads_during_an_answer_end_in_the_same_page(enter, upstream):
    tab = enter().open()
    tab.ask("What holds?")
    answer = upstream.next_answer()
    for at, piece in enumerate(pieces(THOUGHT * 2, 6) + pieces(RICH, 14)):
        (answer.think if at < 6 else answer.write)(piece)
        tab.reload()
        assert tab.answer.get_attribute("data-status") == "running"
    answer.finish()
    tab.expect_as_loaded()


def test_reloads_without_a_stop_between_end_in_the_same_page(enter, upstream):
    upstream.plays(Think(THOUGHT, seconds=0.5), Write(RICH, pace=60))
    tab = enter().open()
    tab.ask("What holds?")
    while tab.answer.get_attribute("data-status") != "complete":
        tab.reload()
    tab.expect_as_loaded()


def test_two_tabs_see_the_same_stream(enter, upstream):
    one = enter().open()
    one.ask("What holds?")
    answer = upstream.next_answer()
    answer.think(THOUGHT)
    other = enter(one)
    other.page.goto(one.page.url)
    for piece in pieces(RICH, 5):
        answer.write(piece)
    answer.finish()
    for tab in (one, other):
        tab.expect_as_loaded()
    other.ask("And then?")
    expect(one.questions).to_have_count(2)
    upstream.next_answer().write("Half")
    for tab in (one, other):
        tab.expect_shown("Half")


def test_a_line_that_breaks_fifty_times_loses_and_doubles_nothing(enter, proxy, upstream):
    tab = enter(to=proxy)
    tab.forgive("WebSocket", "ERR_")
    tab.open()
    tab.ask("What holds?")
    answer = upstream.next_answer()
    answer.think(THOUGHT)
    tab.expect_shown(THOUGHT)
    proxy.cut_the_next([400, 0, 700, 40, 1000] * 10)
    proxy.cut_sockets()
    for cuts, piece in enumerate(pieces(RICH * 3, 50), start=2):
        answer.write(piece)
        proxy.until_cuts(cuts)
        tab.page.evaluate("() => dispatchEvent(new Event('online'))")
    answer.finish()
    tab.expect_as_loaded()


def test_a_network_that_is_away_for_a_while_is_told_of_and_costs_nothing(enter, proxy, upstream):
    tab = enter(to=proxy)
    tab.forgive("WebSocket", "ERR_")
    tab.open()
    tab.ask("What holds?")
    answer = upstream.next_answer()
    answer.write("Before. ")
    tab.expect_shown("Before.")
    line = tab.page.get_by_text("Reconnecting…")
    with proxy.away():
        expect(line).to_be_visible()
        answer.write("Meanwhile. ")
    tab.expect_shown("Meanwhile.")
    expect(line).to_be_hidden()
    answer.write("After.")
    answer.finish()
    tab.expect_text("Before. Meanwhile. After.")
    tab.expect_as_loaded()


def test_a_socket_that_fell_silent_is_noticed_by_the_next_question(enter, proxy, upstream):
    tab = enter(to=proxy).open()
    tab.ask("What holds?")
    answer = upstream.next_answer()
    answer.write("A line.")
    answer.finish()
    tab.expect_as_loaded()
    proxy.silence_sockets()
    tab.ask("And now?")
    answer = upstream.next_answer()
    answer.write("All the same.")
    tab.expect_shown("All the same.")
    answer.finish()
    tab.expect_as_loaded()


def test_news_that_were_held_back_come_all_at_once(enter, proxy, upstream):
    tab = enter(to=proxy).open()
    tab.ask("What holds?")
    answer = upstream.next_answer()
    answer.write("Before. ")
    tab.expect_shown("Before.")
    with proxy.held_back():
        for piece in pieces(RICH, 9):
            answer.write(piece)
        answer.finish()
    tab.expect_as_loaded()


def test_a_page_heals_by_itself_after_the_server_was_killed(enter, own_house, upstream):
    tab = enter().open()
    tab.forgive("WebSocket", "ERR_")
    tab.ask("What holds?")
    lost = upstream.next_answer()
    lost.think(THOUGHT)
    lost.write("This will be lost.")
    tab.expect_shown("This will be lost.")
    own_house.kill()
    own_house.start()
    answer = upstream.next_answer()
    answer.think("Once more. ")
    answer.write(RICH)
    answer.finish()
    tab.expect_as_loaded()
    expect(tab.answer).not_to_contain_text("This will be lost.")


def test_what_a_round_had_finished_survives_the_death_of_the_server(enter, own_house, upstream):
    upstream.plays(Think("Look at the clock. "), Call("clock"))
    tab = enter().open()
    tab.forgive("WebSocket", "ERR_")
    tab.ask("What time is it?")
    lost = upstream.next_answer()
    lost.write("This will be lost.")
    tab.expect_shown("This will be lost.")
    thought = tab.answer.locator("details[data-kind=reasoning]").first.get_attribute("data-item-key")
    own_house.kill()
    own_house.start()
    answer = upstream.next_answer()
    answer.write("Noon.")
    answer.finish()
    tab.expect_as_loaded()
    tab.expect_text("Noon.")
    assert tab.answer.locator("details[data-kind=reasoning]").first.get_attribute("data-item-key") == thought


WATCH = """() => {
    const body = [...document.querySelectorAll("[data-kind=assistant_message]")].at(-1);
    window.kept = [...body.children].filter((block) => !("growing" in block.dataset));
    window.removed = 0;
    new MutationObserver((records) => {
        for (const { removedNodes } of records) {
            for (const node of removedNodes) if (window.kept.some((block) => block === node || block.contains(node))) window.removed++;
        }
    }).observe(body, { childList: true, subtree: true });
    return window.kept.length;
}"""


def test_finished_blocks_keep_their_nodes_and_what_is_selected_in_one(enter, upstream):
    tab = enter().open()
    tab.ask("What?")
    answer = upstream.next_answer()
    answer.write(paragraphs(3) + "\n\nA fourth\n")
    expect(tab.text.locator("> :not([data-growing])")).to_have_count(3)
    assert tab.page.evaluate(WATCH) == 3
    tab.text.locator("p").first.select_text()
    selected = tab.page.evaluate("String(getSelection())")
    for piece in pieces(RICH, 20):
        answer.write(piece)
        tab.next_frames()
    answer.finish()
    tab.expect_as_loaded()
    assert tab.page.evaluate("String(getSelection())") == selected != ""
    assert tab.page.evaluate("window.removed") == 0
    assert tab.page.evaluate("window.kept.every((block) => block.isConnected)")


def test_only_a_block_that_a_late_definition_changes_is_replaced(enter, upstream):
    tab = enter().open()
    tab.ask("What?")
    answer = upstream.next_answer()
    answer.write("See [it][late].\n\n" + paragraphs(3) + "\n\nThen\n")
    expect(tab.text.locator("> :not([data-growing])")).to_have_count(4)
    tab.page.evaluate(WATCH)
    answer.write(" the end.\n\n[late]: https://example.org/late\n")
    answer.finish()
    tab.expect_as_loaded()
    expect(tab.text.get_by_role("link", name="it")).to_be_visible()
    assert tab.page.evaluate("window.kept.filter((block) => block.isConnected).length") == 3


def test_the_title_of_the_tab_says_that_it_answers(enter, upstream):
    tab = enter().open()
    tab.ask("What?")
    answer = upstream.next_answer()
    answer.write("Half")
    tab.page.wait_for_function("() => document.title.startsWith('● ')")
    answer.finish()
    tab.page.wait_for_function("() => !document.title.includes('●')")
    assert tab.page.title().endswith("Thoughtline")


@pytest.fixture
def hidden(enter, upstream):
    """A tab that somebody has asked in, and that `hide` can hide."""
    upstream.plays(Write("One."))
    tab = enter()
    tab.page.add_init_script(HIDEABLE)
    tab.open()
    tab.ask("What?")
    tab.expect_as_loaded()
    return tab


def hide(tab, is_hidden=True):
    tab.page.evaluate("(is) => hide(is)", is_hidden)


def expect_title(tab, words):
    """As one reads it beside other tabs."""
    # Nothing is drawn in a hidden tab, so its pictures cannot be waited for.
    tab.page.wait_for_function("(words) => document.title === words", arg=words, polling=20)


def test_a_hidden_tab_keeps_its_title_true(hidden, upstream):
    hidden.ask("And then?")
    answer = upstream.next_answer()
    hide(hidden)
    expect_title(hidden, "● answering · What? · Thoughtline")
    answer.write("Two.")
    answer.finish()
    expect_title(hidden, "What? · Thoughtline")
    hide(hidden, False)
    hidden.expect_as_loaded()


def test_a_hidden_tab_tells_of_a_question_that_was_asked_elsewhere(hidden, enter, upstream):
    other = enter(hidden)
    other.page.goto(hidden.page.url)
    hide(hidden)
    other.ask("And then?")
    answer = upstream.next_answer()
    expect_title(hidden, "● answering · What? · Thoughtline")
    answer.write("Two.")
    answer.finish()
    expect_title(hidden, "What? · Thoughtline")


def test_what_was_waiting_to_be_drawn_is_told_by_a_tab_that_is_hidden_then(hidden, upstream):
    hidden.ask("And then?")
    answer = upstream.next_answer()
    hidden.page.evaluate("draws(false)")
    answer.write("Two.")
    answer.finish()
    hidden.page.wait_for_function("() => waits() > 0", polling=20)
    assert hidden.page.title().startswith("● answering")
    hide(hidden)
    expect_title(hidden, "What? · Thoughtline")


def test_a_reply_that_comes_later_than_the_answer_it_began_changes_nothing(enter, upstream):
    upstream.plays(Write("One."))
    tab = enter().open()
    tab.ask("What?")
    tab.expect_as_loaded()
    replies = []
    tab.page.route("**/ask/", lambda route: replies.append((route, route.fetch())))
    tab.ask("And then?")
    answer = upstream.next_answer()
    while not replies:
        tab.next_frames()
    answer.write("Two.")
    answer.finish()
    tab.expect_text("Two.")
    tab.expect_as_loaded()
    ((route, response),) = replies
    assert response.ok
    route.fulfill(response=response)
    expect(tab.composer).to_have_value("")
    tab.expect_as_loaded()


def test_the_view_follows_the_end_only_while_the_reader_is_there(enter, upstream):
    tab = enter(viewport={"width": 1000, "height": 500}).open()
    tab.ask("What?")
    answer = upstream.next_answer()
    at_end = "() => document.scrollingElement.scrollHeight - innerHeight - scrollY < 5"
    answer.write(paragraphs(30))
    tab.page.wait_for_function("() => document.scrollingElement.scrollHeight > 900")
    tab.page.wait_for_function(at_end)
    tab.page.mouse.wheel(0, -600)
    jump = tab.page.get_by_role("button", name="Jump to latest")
    expect(jump).to_be_visible()
    before = tab.page.evaluate("scrollY")
    answer.write("\n\n" + paragraphs(10) + " The last word.")
    tab.expect_shown("The last word.")
    assert tab.page.evaluate("scrollY") == before
    jump.click()
    tab.page.wait_for_function(at_end)
    expect(jump).to_be_hidden()
    answer.write("\n\n" + paragraphs(10))
    tab.expect_shown("number.")
    tab.page.wait_for_function(at_end)


def test_nothing_jumps_while_an_answer_comes(enter, upstream):
    upstream.plays(Write("One."))
    tab = enter(viewport={"width": 1000, "height": 700}).open()
    tab.ask("What?")
    tab.expect_status("complete")
    tab.ask("And then?")
    answer = upstream.next_answer()
    answer.think(THOUGHT)
    answer.write("The first paragraph.\n\nThe second\n")
    expect(tab.text.locator("> :not([data-growing])")).to_have_count(1)
    tab.watch_place(tab.text.locator("p").first, within=tab.questions.last)
    for piece in pieces(RICH, 20):
        answer.write(piece)
        tab.next_frames()
    answer.finish()
    tab.expect_status("complete")
    assert tab.wandered() < 1
