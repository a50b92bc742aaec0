"""Reads in programs and commands: calls with a key condition, and calls that get an item."""

from __future__ import annotations

import re

from keyfold_workbench.adopt.document.blocks import Block
from keyfold_workbench.adopt.document.here import Here
from keyfold_workbench.adopt.document.key_clauses import key_clauses
from keyfold_workbench.adopt.document.reads import pattern_name, tell_read, title_of
from keyfold_workbench.adopt.document.scope import ordered_words
from keyfold_workbench.adopt.document.statements import PatternStatement

CALLS = re.compile(r"(?i)KeyCondition|\bkey\(\s*[\"']|key-condition")
COMMENT = re.compile(r"^\s*(?://|#+|--|\*)\s*(?P<comment>\S.*?)\s*$")


_GET = re.compile(
    r"(?:\b(?:get_item|get|GetItem\w*|GetCommand)\s*\(|\bGetItem (?:\{|on\b)|get-item\b)"
    r"(?:[^{}]|\{(?!\s*[\"']?\w+[\"']?\s*:))"
    r"{0,200}?(?:\{[^{}]{0,200}?)?(?:\bKey\b[\"']?\s*[:=]|--key)\s*'?"
    r"(\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\}){1,400}\})"
)


_BARE_KEY = re.compile(r"\{\s*[A-Za-z_]\w*(?:\s*,\s*[A-Za-z_]\w*)?\s*\}")
"""`Key: { userId, listId }`: the attributes alone."""


def read_gets(here: Here) -> None:
    """A call that gets an item by its key is a pattern, named by the comment above it."""
    for hit in _GET.finditer(here.block.text):
        found = key_clauses(hit[1], here.names, reads=True)
        given = tuple(re.findall(r"\w+", hit[1])) if _BARE_KEY.fullmatch(hit[1]) else ()
        if not found and not given:
            continue
        number = here.block.text.count("\n", 0, hit.start())
        above = here.block.lines[:number]
        while above and above[-1][1].strip() and not COMMENT.match(above[-1][1]):
            above.pop()
        note = COMMENT.match(above[-1][1]) if above else None
        line = here.block.line + number
        title = note["comment"] if note else title_of(here.block)
        before = here.block.text[max(0, hit.start() - 60) : hit.end()]
        there = here.about(table=here.at.table or _table_called(before, here))
        if given:
            name = pattern_name(title)
            here.say(PatternStatement, line, "a get in code", name=name, operation="get",
                     table=there.at.table, given=given, entity=here.at.entity)  # fmt: skip
        else:
            tell_read(there, line, title, "GetItem", found, "a get in code")
        for at, text in here.block.lines[number:][: hit[0].count("\n") + 1]:
            if key_clauses(text, here.names, reads=True):
                here.reading.mark(at, here.reading.marks.get(line, "read"))


_CALL = re.compile(r"\b(?:get_item|put_item|update_item|delete_item|scan)\s*\(|\bnew \w+Command\(")


_BAD = re.compile(r"(?i)\u274c|\b(?:bad|avoid|inefficient|wrong|never|don't)\b")
"""A comment above what a program should not do."""


def read_scans(here: Here) -> None:
    """A call that scans a table, named by the comment above it."""
    for number, (line, text) in enumerate(here.block.lines):
        if re.search(r"\.scan\s*\(|\bnew ScanCommand\(|\bdynamodb scan\b", text):
            note = COMMENT.match(here.block.lines[number - 1][1]) if number else None
            above = " ".join(said for _, said in here.block.lines[max(0, number - 4) : number])
            if _BAD.search(above):
                continue
            title = note["comment"] if note else title_of(here.block)
            rest = "\n".join(text for _, text in here.block.lines[number : number + 6])
            there = here.about(table=here.at.table or _table_called(rest, here), index="")
            tell_read(there, line, title, "Scan", [], "a scan in code")


def read_conditions(here: Here) -> None:
    """Each call with a key condition is a pattern, named by the comment above it."""
    starts = [
        number
        for number, (_, text) in enumerate(here.block.lines)
        if re.search(r"(?i)KeyCondition(?:Expression|s)?\b|key-condition-expression", text)
    ]
    others = re.search(
        r"\b(?:get_item|GetItem\w*|GetCommand|[Pp]ut\w*|[Uu]pdate\w*|get|put)\(", here.block.text
    )
    previous = _boundary(here.block, -1, starts[0]) if others and starts else 0
    for position, start in enumerate(starts):
        end = (
            len(here.block.lines)
            if position + 1 == len(starts)
            else _boundary(here.block, start, starts[position + 1])
        )
        end = next(
            (at for at in range(start + 1, end) if _CALL.search(here.block.lines[at][1])), end
        )
        lines = here.block.lines[previous:end]
        comments = [
            note["comment"]
            for _, text in lines[: start - previous]
            if (note := COMMENT.match(text))
        ]
        text = "\n".join(text for _, text in lines)
        found = key_clauses(text, here.names, reads=True)
        several = len(starts) > 1 or others
        title = comments[-1] if comments and several else title_of(here.block)
        index = re.search(r"(?i)index[-_]?name['\"]?\s*[=:(]?\s*['\"]?([\w.-]+)", text)
        line = here.block.lines[start][0]
        there = here.about(table=here.at.table or _table_called(text, here))
        told = bool(found) and tell_read(
            there,
            line,
            title,
            f"Query {_order(text)}",
            found,
            "a key condition in code",
            index[1] if index else here.names.index_in(text),
        )
        if not found:
            here.ask(line, f"{pattern_name(title)}: the key condition is not understood.")
        for number, inner in lines:
            if re.search(
                r"(?i)KeyCondition|key\(|IndexName|index_name|[:#]\w+['\"]?\s*[:=]", inner
            ):
                here.reading.mark(number, "read" if told else "question")
        previous = end


def _table_called(text: str, here: Here) -> str:
    """The table that a call is of, by its name or by that of the variable: entries_table.query."""
    named = re.search(r"(?i)table[-_]?name['\"]?\s*[=:(]?\s*['\"]([\w.-]+)['\"]", text)
    if named:
        return named[1]
    said = {*re.findall(r"[\w.${}<>-]+", text)}
    exact = [table for table in here.names.tables if table in said]
    if len(exact) == 1:
        return exact[0]
    called = re.search(r"\b(\w+?)_?[Tt]able\.(?:query|get_item|get)\(", text)
    words = ordered_words(called[1]) if called else ()
    known = [t for t in here.names.tables if words and ordered_words(t)[-len(words) :] == words]
    return known[0] if len(known) == 1 else ""


def _order(text: str) -> str:
    """What else a call says: order and limit."""
    return " ".join(
        re.findall(r"(?im)^.*(?:ScanIndexForward|scan-index|Limit|IndexName|index_name).*$", text)
    )


def _boundary(block: Block, start: int, following: int) -> int:
    """Where the next call begins: at the last blank line or comment before its condition."""
    for number in range(following, start, -1):
        text = block.lines[number][1]
        if not text.strip() or (
            COMMENT.match(text) and not COMMENT.match(block.lines[number - 1][1])
        ):
            return number
    return following
