"""Reads told by the sides of a key: `one order (PK + SK)`, `orders of a day (GSI1)`."""

from __future__ import annotations

import re
from typing import Literal

from keyfold_workbench.adopt.document.blocks import plain
from keyfold_workbench.adopt.document.here import Here
from keyfold_workbench.adopt.document.key_side import INDEX, index_number
from keyfold_workbench.adopt.document.reads import is_write, pattern_name
from keyfold_workbench.adopt.document.statements import PatternStatement, WriteStatement

_AFTER = re.compile(
    rf"(?i)\s*(?P<name>.+?)\s*\((?P<by>(?:PK|SK|{INDEX})[^()]{{0,24}})\)\s*(?:[:\u2014-]\s.*)?"
)
_BEFORE = re.compile(
    r"(?i)(?P<operation>Query|GetItem)\s+(?:on|by|with)\s+\(?(?P<by>PK(?:\W{1,5}SK)?)\)?\s+"
    r"(?:to\s+)?(?P<name>.+)"
)


def tell_sides(here: Here) -> bool:
    """Tell the read that an item of reads gives by its sides only; whether it does."""
    text = plain(here.block.text)
    before = _BEFORE.fullmatch(text)
    after = _AFTER.fullmatch(text) if here.at.section == "patterns" else None
    found = before or after
    if found is None or here.block.kind != "item" or re.search(r"[#=<{]", text):
        return False
    line, name, by = here.block.line, pattern_name(found["name"].rstrip(".")), found["by"]
    numbers = {index_number(number) for number in re.findall(rf"(?i){INDEX}(?=\b|\D)", by)}
    if is_write(name, text, reads=False):
        here.say(WriteStatement, line, "a read by sides of a key", name=name)
        return True
    if len(numbers) > 1 or not all(number[-1].isdigit() for number in numbers):
        here.ask(line, f"{name}: it names several indexes; a pattern reads one.")
        return True
    operation: Literal["", "get", "query"] = ""
    if before:
        operation = "get" if before["operation"].lower() == "getitem" else "query"
    here.say(
        PatternStatement,
        line,
        "a read by sides of a key",
        name=name,
        operation=operation,
        index="".join(numbers),
        given=("PK", "SK") if re.search(r"(?i)sk\b|sk$", by) else ("PK",),
        entity=here.at.entity,
    )
    return True
