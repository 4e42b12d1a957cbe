"""The text of a page as it grows: lines, the gaps between them, points, rows, links, and what its main part holds."""

from __future__ import annotations

from dataclasses import dataclass

DEEPEST_INDENT = 8
LINE, BLANK = 1, 2


@dataclass(frozen=True, slots=True)
class PageRead:
    """`whole` is False where the page goes on behind what was read of it."""

    title: str
    text: str
    whole: bool


@dataclass(slots=True)
class _Row:
    first_line: int
    cells: int = 0


@dataclass(frozen=True, slots=True)
class _Part:
    """Lines of the page, and how many letters were said in them."""

    kind: str
    start: int
    end: int
    said: int


class PageText:
    """A gap is made only when something is said behind it, and none at the beginning of a point or a cell.
    `written` is about how long the text is."""

    def __init__(self) -> None:
        self.written = 0
        self._lines: list[str] = []
        self._line: list[str] = []
        self._line_mark = ""
        self._next_mark = ""
        self._gap = 0
        self._blank_owed = False
        self._fresh = False
        self._said = 0
        self._verbatim = 0
        self._numbers: list[int | None] = []
        self._rows: list[_Row] = []
        self._links: list[tuple[str, int]] = []
        self._open_parts: list[tuple[int, int]] = []
        self._parts: list[_Part] = []

    def text(self) -> str:
        """Only the main part, or else the one article, that holds most of what was said."""
        self._finish()
        for kind in ("main", "article"):
            parts = [part for part in self._parts if part.kind == kind and part.said * 2 > self._said]
            if parts:
                return self._between(parts[-1].start, parts[-1].end)
        return self._between(0, len(self._lines))

    def say(self, text: str) -> None:
        self.written += len(text)
        self._said += len(text.strip())
        if self._verbatim:
            self._line.append(text)
        elif text.strip():
            self._say_words(text)
        elif self._line:
            self._line.append(" ")

    def leave_line(self) -> None:
        self._leave(LINE)

    def leave_block(self) -> None:
        self._leave(BLANK)

    def break_line(self) -> None:
        """A second one in a row leaves a line blank."""
        if self._verbatim:
            self._line.append("\n")
        else:
            self._leave(BLANK if self._gap else LINE)

    def begin_heading(self, level: int) -> None:
        self._begin_marked("#" * level + " ", BLANK)

    def end_heading(self) -> None:
        self._end_marked(BLANK)

    def begin_list(self, *, numbered: bool) -> None:
        self._leave(LINE if self._numbers else BLANK)
        self._numbers.append(0 if numbered else None)

    def end_list(self) -> None:
        self._numbers.pop()
        self._leave(LINE if self._numbers else BLANK)

    def begin_point(self) -> None:
        indent = "  " * min(len(self._numbers) - 1, DEEPEST_INDENT)
        self._begin_marked(f"{indent}{self._sign_of_point()} ", LINE)

    def end_point(self) -> None:
        self._end_marked(LINE)

    def begin_row(self) -> None:
        self._leave(LINE)
        self._finish_line()
        self._rows.append(_Row(len(self._lines)))

    def end_row(self) -> None:
        self._rows.pop()
        self._fresh = False
        self._leave(LINE)

    def begin_cell(self) -> None:
        """On the line of the cells before, unless these have more than one."""
        row = self._rows[-1] if self._rows else _Row(len(self._lines))
        if row.cells and row.first_line == len(self._lines):
            self._gap = 0
            self._line.append(" | ")
        elif row.cells:
            self._leave(LINE)
        row.cells += 1
        self._fresh = True

    def begin_verbatim(self) -> None:
        if not self._verbatim:
            self._leave(BLANK)
            self._finish_line()
            self._next_mark, self._fresh = "", False
        self._verbatim += 1

    def end_verbatim(self) -> None:
        self._verbatim -= 1
        if not self._verbatim:
            text, self._line = "".join(self._line).strip("\n"), []
            if text.strip():
                self._write(f"```\n{text}\n```")
            self._gap = BLANK

    def begin_link(self, url: str) -> None:
        self._links.append((url, self._said))

    def end_link(self) -> None:
        """Where it leads, unless that is what it says."""
        url, said_before = self._links.pop()
        if url and self._said > said_before and not self._verbatim and self._line and self._line[-1] != url:
            self._line.append(f" ({url})")
            self.written += len(url)

    def begin_part(self) -> None:
        self._leave(BLANK)
        self._finish_line()
        self._open_parts.append((len(self._lines), self._said))

    def end_part(self, kind: str) -> None:
        self._leave(BLANK)
        self._finish_line()
        start, said_before = self._open_parts.pop()
        self._parts.append(_Part(kind, start, len(self._lines), self._said - said_before))

    def _between(self, start: int, end: int) -> str:
        return "\n".join(self._lines[start:end]).strip("\n")

    def _say_words(self, text: str) -> None:
        if self._gap:
            self._finish_line()
        if self._next_mark:
            self._line_mark, self._next_mark = self._next_mark, ""
        self._line.append(text)
        self._fresh = False

    def _leave(self, gap: int) -> None:
        if self._verbatim:
            if self._line and not self._line[-1].endswith("\n"):
                self._line.append("\n")
        elif not self._fresh:
            self._gap = max(self._gap, gap)

    def _begin_marked(self, mark: str, gap: int) -> None:
        self._leave(gap)
        if self._next_mark or (self._fresh and self._line):
            return
        self._finish_line()
        self._next_mark, self._fresh = mark, True

    def _end_marked(self, gap: int) -> None:
        self._next_mark, self._fresh = "", False
        self._leave(gap)

    def _sign_of_point(self) -> str:
        number = self._numbers[-1] if self._numbers else None
        if number is None:
            return "-"
        self._numbers[-1] = number + 1
        return f"{number + 1}."

    def _finish(self) -> None:
        if self._verbatim:
            self._verbatim = 1
            self.end_verbatim()
        self._finish_line()

    def _finish_line(self) -> None:
        if self._verbatim:
            return
        words = " ".join("".join(self._line).split())
        if words.strip("| "):
            self._write(self._line_mark + words)
        self._line, self._line_mark = [], ""
        self._blank_owed = self._blank_owed or self._gap == BLANK
        self._gap = 0

    def _write(self, line: str) -> None:
        if self._blank_owed and self._lines:
            self._lines.append("")
        self._lines.append(line)
        self._blank_owed = False
