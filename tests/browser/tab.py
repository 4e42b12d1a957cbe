"""A tab of somebody's browser: what they do there, what they see, and everything that goes wrong in it."""

from __future__ import annotations

import json
import re
from difflib import unified_diff
from pathlib import Path
from typing import Any, Literal

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, ConsoleMessage, Locator, Page, Response, expect

from tests.support.patience import PATIENCE

NORMAL = (Path(__file__).parent / "normal.js").read_text()
# What a frame finds changed since the last one was not drawn yet.
WATCH_PLACE = """([element, within]) => {
    window.tops = [];
    let changed = false;
    const changes = { childList: true, subtree: true, characterData: true, attributes: true };
    new MutationObserver(() => (changed = true)).observe(document.getElementById("thread"), changes);
    const top = (one) => one.getBoundingClientRect().top;
    const look = () => {
        if (!changed) tops.push(top(element) - (within ? top(within) : 0));
        changed = false;
        requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
}"""
ENDS_WITH = r"""(words) => {
    const plain = (text) => text.replace(/[^\p{L}\p{N}.]/gu, "");
    const body = [...document.querySelectorAll("article[data-role=assistant] [data-body]")].at(-1);
    return body && plain(body.textContent).endsWith(plain(words));
}"""
AT_REST = """() => {
    const page = document.getElementById("thread"), last = [...document.querySelectorAll("article")].at(-1);
    const button = document.querySelector("#send button, #leads [form=stop]");
    const sends = !button || button.textContent.trim() === "Send";
    return sends && page && !("answering" in page.dataset) && page.dataset.version === last?.dataset.version;
}"""
CALM = """() => document.getAnimations().every((one) =>
    one.playState !== "running" || one.effect.getComputedTiming().iterations === Infinity)"""
# Animations do not tell of what folds: its height has to stand still in a few pictures that were drawn.
FOLDED = """() => new Promise((done) => {
    let last = "", same = 0;
    const look = () => {
        const now = [...document.querySelectorAll("details")].map((one) => one.getBoundingClientRect().height).join();
        same = now === last ? same + 1 : 0;
        last = now;
        same < 5 ? requestAnimationFrame(look) : done();
    };
    look();
})"""
# A rule that could find another fault by night.
DEPENDS_ON_LIGHT = {"runOnly": ["color-contrast", "link-in-text-block"]}
GRAVE = ("serious", "critical")
PATIENCE_MS = PATIENCE * 1000
LOOK_MS = 50
expect.set_options(timeout=PATIENCE_MS)


class Tab:
    def __init__(self, context: BrowserContext, url: str, person: str = "") -> None:
        self.context, self.url, self.person = context, url, person
        self.wrong: list[str] = []
        # A page that is left at once closes a socket that was still opening; nobody is there to miss it.
        self._forgiven = [
            "WebSocket is closed before the connection is established",
            "Connection closed before receiving a handshake response",
        ]
        self._beside: Page | None = None
        self.page: Page = context.new_page()
        self.page.set_default_timeout(PATIENCE_MS)
        self.page.on("pageerror", lambda error: self._note(f"script: {error}"))
        self.page.on("console", self._note_console)
        self.page.on("response", self._note_response)

    # What goes wrong

    def forgive(self, *patterns: str) -> None:
        """Complaints of the browser that the test causes itself."""
        self._forgiven += patterns
        self.wrong = [words for words in self.wrong if not self._is_forgiven(words)]

    def _note_console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self._note(f"console: {message.text} ({message.location.get('url', '')})")

    def _note_response(self, response: Response) -> None:
        if response.status >= 500:
            self._note(f"{response.status} from {response.url}")

    def _note(self, words: str) -> None:
        if not self._is_forgiven(words):
            self.wrong.append(words)

    def _is_forgiven(self, words: str) -> bool:
        return any(re.search(pattern, words) for pattern in self._forgiven)

    # What one does

    def open(self, path: str = "") -> Tab:
        self.page.goto(self.url + path.removeprefix("/"))
        return self

    def reload(self) -> None:
        self.page.reload()

    def ask(self, words: str) -> Locator:
        """Types and sends; the question's article, when it is there."""
        before = self.questions.count()
        self.page.wait_for_load_state()
        expect(self.page.get_by_role("button", name="Send", exact=True)).to_be_visible()
        self.composer.fill(words)
        self.composer.press("Enter")
        question = self.questions.nth(before)
        question.wait_for()
        return question

    def press(self, name: str, *, within: Locator | None = None) -> None:
        """The button or link of that name, as a reader hears it."""
        place = within or self.page
        place.get_by_role("button", name=name, exact=True).first.click()

    # What one sees

    @property
    def composer(self) -> Locator:
        return self.page.get_by_role("textbox", name="Message", exact=True)

    @property
    def messages(self) -> Locator:
        return self.page.locator("article[data-message-id]")

    @property
    def questions(self) -> Locator:
        return self.page.locator("article[data-role=user]")

    @property
    def answers(self) -> Locator:
        return self.page.locator("article[data-role=assistant]")

    @property
    def answer(self) -> Locator:
        """The last one."""
        return self.answers.last

    @property
    def thought(self) -> Locator:
        """What the last thought of the last answer is called."""
        return self.answer.locator("details[data-kind=reasoning] > summary").last

    @property
    def text(self) -> Locator:
        return self.answer.locator("[data-kind=assistant_message]").last

    @property
    def conversation(self) -> str:
        """Its id, from the address."""
        found = re.search(r"/c/([0-9a-f-]{36})/", self.page.url)
        assert found, self.page.url
        return found[1]

    def message_id(self, message: Locator | None = None) -> str:
        found = (message or self.answer).get_attribute("data-message-id")
        assert found
        return found

    def expect_status(self, status: str, message: Locator | None = None) -> None:
        """On a page whose scripts run: a person is not quicker than they are."""
        self.page.wait_for_load_state()
        expect(message or self.answer).to_have_attribute("data-status", status)

    def expect_shown(self, words: str) -> None:
        """These letters are the last that the page shows of the answer, marked up or not."""
        self._wait_for(ENDS_WITH, words)

    def expect_as_loaded(self, status: str = "complete") -> None:
        """The answer has ended like that, and the branch on screen is what somebody finds who comes now."""
        self.expect_status(status)
        self.expect_at_rest()
        self._expect_same(self.freshly_loaded(), self.normal(self.page.locator("#thread")))

    def expect_at_rest(self) -> None:
        """The answer has ended, and everything of it has arrived."""
        self._wait_for(AT_REST)

    @staticmethod
    def _expect_same(loaded: str, shown: str) -> None:
        lines = (loaded.splitlines(), shown.splitlines())
        found = list(unified_diff(*lines, "as loaded", "on the screen", lineterm="", n=2))
        assert not found, "\n".join(found)

    def _wait_for(self, fact: str, arg: Any = None) -> None:
        """Looks for it now and then: in every picture, looking would cost more than the page."""
        self.page.wait_for_function(fact, arg=arg, polling=LOOK_MS)

    def expect_text(self, words: str | re.Pattern[str]) -> None:
        expect(self.text).to_have_text(words)

    def seconds(self) -> int:
        """The seconds that the last thought's summary tells."""
        words = self.thought.inner_text()
        found = re.search(r"(?:(\d+) min )?(\d+) s", words)
        assert found, words
        return int(found[1] or 0) * 60 + int(found[2])

    def expect_thinking(self, at_least: int) -> None:
        """The clock runs and has come so far."""
        self._wait_for(
            """([selector, least]) => {
                const found = [...document.querySelectorAll(selector)].pop();
                return found && parseInt(found.textContent) >= least;
            }""",
            ["article[data-role=assistant] details[data-kind=reasoning] > summary time", at_least],
        )
        assert self.thought.inner_text().startswith("Thinking for ")

    def normal(self, element: Locator | None = None) -> str:
        """The last answer, or another element, as text that does not depend on the way one came there."""
        return str((element or self.answer).evaluate(NORMAL))

    def freshly_loaded(self) -> str:
        """The branch on screen in a page of the same person that has seen nothing before."""
        page = self._beside = self._beside or self.context.new_page()
        page.goto(self.page.url)
        said = page.locator("#thread").evaluate(NORMAL)
        page.goto("about:blank")
        return str(said)

    def next_frames(self, count: int = 1) -> None:
        """Returns when so many more pictures of the page have been drawn."""
        frame = "(count) => new Promise((done) => { const next = () => (count-- ? requestAnimationFrame(next) : done()); next(); })"
        self.page.evaluate(frame, count)

    def watch_place(self, element: Locator, within: Locator | None = None) -> None:
        """Notes where this is in every picture that is drawn, on the screen or seen from another element, once what folds has folded."""
        self._wait_for(CALM)
        self.page.evaluate(FOLDED)
        self.page.evaluate(
            WATCH_PLACE, [element.element_handle(), within.element_handle() if within else None]
        )

    def wandered(self) -> float:
        """By how many pixels at most."""
        self.next_frames(3)
        tops: list[float] = self.page.evaluate("() => window.tops")
        assert tops
        return max(tops) - min(tops)

    def grave(self) -> list[str]:
        """What axe finds serious or critical on the page as it is, by day and by night."""
        return self._found(*GRAVE)

    def faults(self) -> list[str]:
        """Whatever axe finds."""
        return self._found("minor", "moderate", *GRAVE)

    def _found(self, *impacts: str) -> list[str]:
        found = self._findings("light") + self._findings("dark", DEPENDS_ON_LIGHT)
        self.page.emulate_media(color_scheme="null")
        return [
            f"{row['id']} ({row['impact']}): {node['html']}: {node.get('failureSummary', '')}"
            for row in found
            if row["impact"] in impacts
            for node in row["nodes"]
        ]

    def _findings(self, scheme: Literal["light", "dark"], options: Any = None) -> list[dict[str, Any]]:
        self.page.emulate_media(color_scheme=scheme)
        self._wait_for(CALM)
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(Axe().axe_script)
        found: list[dict[str, Any]] = self.page.evaluate(f"axe.run({json.dumps(options or {})})")[
            "violations"
        ]
        return found
