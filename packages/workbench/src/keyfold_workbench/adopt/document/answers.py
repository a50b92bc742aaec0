"""Answers that live in the document: `<!-- keyfold: entity Order -->`, `<!-- keyfold: yes -->`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from keyfold.errors import KeyfoldError

_ANSWER = re.compile(r"<!--\s*keyfold:(?P<said>.*?)-->")
WORDS = (
    "entity NAME (what follows is about NAME), yes (it is as keyfold read it), ignore (it is not "
    "part of the design), or a statement, as Order: PK=ORDER#<orderId>, SK=META"
)


@dataclass(frozen=True)
class LineAnswer:
    """One answer: the line that it stands on, and the line that it speaks for."""

    line: int
    said: str
    for_block: bool
    """It stands alone, so it speaks for the block that follows."""

    @property
    def entity(self) -> str:
        return self.said.removeprefix("entity ").strip() if self.said.startswith("entity ") else ""

    @property
    def is_statement(self) -> bool:
        return not self.entity and self.said not in ("yes", "ignore")

    def refuse(self) -> KeyfoldError:
        return KeyfoldError(f"line {self.line}: unknown answer {self.said!r}. Write {WORDS}.")


def find_answers(text: str) -> list[LineAnswer]:
    """The answers of a document, outside of fenced blocks."""
    found: list[LineAnswer] = []
    fenced = False
    for line, content in enumerate(text.splitlines(), 1):
        fenced ^= re.match(r"\s*(?:```|~~~)", content) is not None
        for hit in _ANSWER.finditer(content) if not fenced and "<!--" in content else ():
            rest = content[: hit.start()] + content[hit.end() :]
            found.append(LineAnswer(line, hit["said"].strip(), not rest.strip(" |")))
    return found


def with_answer(text: str, line: int, said: str) -> str:
    """The document with an answer for a line: in the line, or before the fence around it."""
    lines = text.splitlines(keepends=True)
    if not 1 <= line <= len(lines):
        raise KeyfoldError(f"Invalid line {line}: the document has {len(lines)} lines.")
    if "--" in said or "\n" in said:
        raise KeyfoldError("An answer is one line without --.")
    comment = f"<!-- keyfold: {said} -->"
    fences = [at for at, each in enumerate(lines[:line]) if re.match(r"\s*(?:```|~~~)", each)]
    if len(fences) % 2:
        lines.insert(fences[-1], f"{comment}\n")
        return "".join(lines)
    content = _ANSWER.sub("", lines[line - 1]).rstrip()
    row = content.endswith("|")
    lines[line - 1] = f"{content[:-1].rstrip()} {comment} |\n" if row else f"{content} {comment}\n"
    return "".join(lines)
