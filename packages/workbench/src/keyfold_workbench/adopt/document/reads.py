"""From a text with a read to a pattern: its operation, index, conditions, order and limit."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, Literal, cast

from keyfold_workbench.adopt.document.blocks import Block, codes, plain
from keyfold_workbench.adopt.document.here import Here
from keyfold_workbench.adopt.document.key_clauses import (
    KeyClause,
    Operator,
    key_clauses,
    unread_sides,
)
from keyfold_workbench.adopt.document.key_side import NAME, SIDES, KeyNames, KeySide, Side
from keyfold_workbench.adopt.document.key_text import key_text
from keyfold_workbench.adopt.document.notations import (
    DESCENDING,
    LIMIT,
    NUMBERED,
    PERHAPS,
    READ_BY,
    READ_WORD,
    READS,
    WRITE_NAME,
    WRITE_WORD,
)
from keyfold_workbench.adopt.document.scope import Scope
from keyfold_workbench.adopt.document.statements import PatternStatement, WriteStatement

_CALL = re.compile(r"\b(?:GetItem|get_item|BatchGetItem|Query|query(?:_\w+)?|get)\s*\(([^()]*)\)")
_NAMED_CALL = re.compile(r"^\W*`?(\w+)\(([\w, :?=-]*)\)`?")
_NO_ARGUMENT = re.compile(r"(?i)^(?:gsi|lsi)[ _-]?\d*$|\b(?:asc|desc)$|^limit\b")
_PREFIX = re.compile(
    r"(?i)^(?:use case|access pattern|pattern|query|ap)\s*#?\d+\s*[:.\u2014-]\s*|^example:\s*"
)


def clauses_of(text: str, names: KeyNames) -> list[KeyClause]:
    """The conditions of a read, also of calls by position: `GetItem(USER#<id>, PROFILE)`."""
    found = key_clauses(text, names, reads=True)
    if found:
        return [*_partition_beside(text, found), *found]
    if READ_WORD.search(text) and (alone := _templates(text)):
        return alone
    call = _CALL.search(text)
    given = [part.strip(" `") for part in call[1].split(",")] if call else []
    if not call:
        pair = next((span for span in codes(text) if re.fullmatch(r"[^/]*#[^/]*/[^/]+", span)), "")
        given = [part.strip() for part in pair.split("/")] if pair else []
    values = [key_text(part) for part in given]
    quoted = call is not None and all(re.fullmatch(r"([\"']).+\1", part) for part in given)
    if not 1 <= len(given) <= 2 or not values[0] or None in values:
        return []
    if "#" not in given[0] and not quoted:
        return []
    return [
        KeyClause(KeySide("", side), "=", (value,), raw)
        for side, value, raw in zip(SIDES, values, given, strict=False)
    ]


def _partition_beside(text: str, found: list[KeyClause]) -> list[KeyClause]:
    """`Query `USER#<id>` + `begins_with(SK, ORDER#)``: the partition is told without its name."""
    if any(clause.side.side == "partition" for clause in found) or not READ_WORD.search(text):
        return []
    told = [span for span in codes(text) if "#" in span and not any(span in c.raw for c in found)]
    key = key_text(told[0]) if len(told) == 1 and not re.search(r"[(=,/]", told[0]) else None
    index = found[0].side.index
    return [KeyClause(KeySide(index, "partition"), "=", (key,), told[0])] if key else []


def _templates(text: str) -> list[KeyClause]:
    """`Query` with `USER#<id>` and prefix `ORDER#`: the key's values, without its names."""
    spans = [span for span in codes(text) if "#" in span and not re.search(r"[(=,/]", span)]
    values = [key_text(span.rstrip("*")) for span in spans]
    if not 1 <= len(spans) <= 2 or values[0] is None or values[-1] is None:
        return []
    if spans[0].endswith("#"):
        return []  # a prefix tells no partition
    found = [KeyClause(KeySide("", "partition"), "=", (values[0],), spans[0])]
    if len(spans) == 2:
        prefix = spans[1].endswith(("#", "*"))
        operator: Operator = "begins_with" if prefix else "="
        found.append(KeyClause(KeySide("", "sort"), operator, (values[1],), spans[1]))
    return found


def pattern_name(text: str) -> str:
    """A pattern's name without its number and its decoration."""
    text = _PREFIX.sub("", NUMBERED.sub("", plain(text)))
    text = re.sub(rf"(?i)\s+[\u2014\u2013-]\s+(?:{NAME})\s*[:=].*", "", text)
    return re.sub(r"\s*\((?:e\.g\.|using)[^)]*\)", "", text).strip(" :\u2013\u2014-")[:120]


def tell_read(
    here: Here,
    line: int,
    name: str,
    text: str,
    found: list[KeyClause],
    notation: str,
    index_text: str = "",
) -> bool:
    """A pattern, a write, or the question about it; whether anything was told."""
    name = pattern_name(name)
    words = [*READ_WORD.finditer(text)]
    read = next((word for word in words if word[1]), next(iter(words), None))  # Query, before GET
    if is_write(name, text, bool(read and found)) or _WRITTEN.fullmatch(here.block.label):
        here.say(WriteStatement, line, notation, name=name)
        return True
    operation = (
        cast(
            "Literal['get', 'query', 'scan']",
            READS.get((read[1] or read[2]).lower().replace("queries", "query"), "query"),
        )
        if read
        else ""
    )
    if not found:
        return _without_conditions(here, line, name, text, operation, notation, index_text)
    if lost := unread_sides(text, here.names):
        here.ask(line, f"{name}: the condition on {lost[0][:60]} is not understood.")
        return False
    if unclear := [clause.raw for clause in found if None in clause.values]:
        here.ask(line, f"{name}: what is {', '.join(unclear)[:120]}?")
        return False
    if also := re.search(r"\(and `([^`]+)`\)", text):
        here.ask(line, f"{name}: is it also read with {also[1]}?")
    index = _index(here, found, f"{index_text} {text}")
    if index is None:
        here.ask(line, f"{name}: it names several indexes; a pattern reads one.")
        return False
    sides: dict[tuple[Side, str], KeyClause] = {}
    for clause in found:
        place = (
            clause.side.side,
            clause.side.attribute if clause.side.attribute in here.names.attributes else "",
        )
        known = sides.setdefault(place, clause)
        if known.values != clause.values:
            here.ask(
                line,
                f"{name}: two conditions for the {clause.side.side} key: {known.raw} and "
                f"{clause.raw}.",
            )
            return False
    limit = LIMIT.search(text)
    cells = (name, *text.split(" | "))
    descending = any(DESCENDING.search(cell) and not PERHAPS.search(cell) for cell in cells)
    here.say(
        PatternStatement,
        line,
        notation,
        name=name,
        operation=operation,
        index=index,
        clauses=tuple(sides.values()),
        text=text,
        entity=here.at.entity,
        descending=descending,
        limit=int(limit[1]) if limit else 0,
    )
    return True


def is_write(name: str, text: str, reads: bool) -> bool:
    if WRITE_NAME.match(name) or re.search(r"更新|追加|削除|作成|登録", name):
        return True
    return WRITE_WORD.search(text) is not None and not reads


def _index(here: Here, found: list[KeyClause], text: str) -> str | None:
    """The index that a pattern reads: empty for the table, None if that is unclear."""
    stated = {clause.side.index for clause in found} - {"", "*"}
    if len(stated) > 1:
        return None
    if stated:
        return stated.pop()
    named = here.names.index_in(text)
    if named:
        return named
    if re.search(r"(?i)\bGSI[ _-]?\d", text):
        return None
    if re.search(r"(?i)\b(?:main|base|primary) table\b|\btable pk\b", text):
        return ""
    return (
        here.at.index
        if here.at.index and any(not clause.side.attribute for clause in found)
        else ""
    )


_NO_SCAN = re.compile(
    r"(?i)\b(?:no|never|avoid\w*|without|banned|not)\b[^.;|]*\bscans?\b|\bscans?\b[^.;|]*\bbanned\b"
)


def _without_conditions(
    here: Here,
    line: int,
    name: str,
    text: str,
    operation: Literal["", "get", "query", "scan"],
    notation: str,
    index_text: str,
) -> bool:
    """A scan, a call with its arguments, or a question: nothing says what it reads by."""
    index = here.names.index_in(f"{index_text} {text}")
    if operation == "scan" and _NO_SCAN.search(text):
        return False
    if operation == "scan" and not index and here.block.kind != "text":
        kind = re.search(r"(?i)\w*type`?\s*=\s*[\"'`]?([\w-]+)", text)
        here.say(
            PatternStatement,
            line,
            notation,
            name=name,
            operation="scan",
            entity=kind[1] if kind else here.at.entity,
        )
        return True
    call = (
        _NAMED_CALL.match(text)
        or _NAMED_CALL.match(name)
        or next(filter(None, map(_NAMED_CALL.match, codes(text))), None)
    )
    told: dict[str, Any] = {
        "name": name,
        "index": index,
        "entity": here.at.entity,
        "descending": bool(DESCENDING.search(text)),
    }
    if call and operation and call[2].strip() and (here.at.table or here.at.entity):
        words = (word.split(":")[0].strip(" ?") for word in call[2].split(","))
        given = tuple(word for word in words if word and not _NO_ARGUMENT.search(word))
        here.say(PatternStatement, line, notation, operation=operation, given=given, **told)
        return True
    if not operation and not index and READ_BY.match(text):
        here.say(PatternStatement, line, notation, text=text, **told)
        return True
    if name and (operation in ("get", "query") or index):
        operation = operation or "query"
        here.say(PatternStatement, line, notation, operation=operation, text=text, **told)
        return True
    if name and operation:
        here.ask(line, f"{name}: by which key? No condition is given.")
    return False


_NO_TITLE = re.compile(
    r"(?i)method|rule|query|dynamodb operation|writes|(?:.* )?keys?(?: conditions?)?(?: values)?"
)
"""Labels of a read's parts."""
_WRITTEN = re.compile(r"(?i)writes|.*\b(?:put|updates?|delete)\b.*\bkey")


def title_of(block: Block) -> str:
    """The name of the pattern that a block tells: its parent item, its label or its heading."""
    for text in block.above:
        first = text.splitlines()[0] if text else ""
        bold = re.match(r"\s*(?:\d+[.)]\s*)?\*\*(.+?)\*\*", first)
        name = pattern_name(bold[1] if bold else first)
        if name and not _NO_TITLE.fullmatch(name):
            return name
    return ""


def tells_reads(at: Scope, text: str, found: list[KeyClause]) -> bool:
    """Whether clauses are conditions of a read rather than an item's key."""
    if any(clause.operator != "=" for clause in found) or READ_WORD.search(text):
        return True
    if len({clause.side.index for clause in found if clause.side.side == "partition"}) > 1:
        return False  # an item's keys in the table and in its indexes
    return at.section == "patterns"


def with_side(clause: KeyClause, index: str) -> KeyClause:
    """A clause of `PK` in a row about an index."""
    return (
        replace(clause, side=replace(clause.side, index=index))
        if index and not clause.side.index
        else clause
    )
