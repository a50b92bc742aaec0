"""Lines that name an index, with its key: `email-index (email as PK)`."""

from __future__ import annotations

import re

from keyfold_workbench.adopt.document.blocks import codes
from keyfold_workbench.adopt.document.here import Here
from keyfold_workbench.adopt.document.key_clauses import key_clauses
from keyfold_workbench.adopt.document.key_side import (
    INDEX,
    SIDES,
    KeySide,
    Side,
    index_number,
    key_side,
)
from keyfold_workbench.adopt.document.key_text import WrittenKey
from keyfold_workbench.adopt.document.scope import TITLED_INDEX
from keyfold_workbench.adopt.document.statements import IndexStatement
from keyfold_workbench.adopt.document.telling import attribute_in, tell_attribute, tell_key

_PAIR_INDEX = re.compile(
    rf"(?i)\s*(?:[-*]\s*)?(?:({INDEX}):\s*)?([A-Za-z]\w*)\s*\+\s*(?:SK|sort key):?\s*(\w+)"
)
_INDEX_NAME = re.compile(r"[A-Za-z](?:[\w.]|-(?!-))*(?:[Ii]ndex|gsi|GSI)\b|\bby[-_]\w+")


def tell_named_index(here: Here, line: int, text: str) -> str:
    """The index that a line names, with its key: `email-index (email as PK)`."""
    bare = re.sub(r"[*]", "", text)
    if pair := _PAIR_INDEX.match(bare):
        if not pair[1]:
            here.ask(line, f"What is the name of the index by {pair[2]} and {pair[3]}?")
            return pair[2]
        keys = (("partition", pair[2], "S"), ("sort", pair[3], "S"))
        number = index_number(pair[1])
        here.say(IndexStatement, line, "a line of an index", name=number, number=number, keys=keys)
        return number
    if number := _tell_attributes(here, line, text):
        return number
    numbered = re.match(
        rf"(?i)\s*(?:[-*]\s*)?`?({INDEX})`?\s*[:(\u2014\u2013-]+\s*`?([A-Za-z][\w.-]+)`?\)?", bare
    )
    after = re.match(
        rf"(?i)\s*(?:[-*]\s*)?`?([A-Za-z][\w.-]+)`?\s*[(\u2014\u2013-]+\s*({INDEX})\)?", bare
    )
    first = re.match(
        r"\s*(?:[-*]\s*)?(?:(?:GSI|LSI|Index)(?: name)?\s*:?\s*)?`?([\w.-]+)`?", bare, re.I
    )
    number = name = ""
    if titled := TITLED_INDEX.match(text):
        name = titled[1]
    elif numbered and numbered[1][-1].isdigit() and _INDEX_NAME.fullmatch(numbered[2]):
        number, name = numbered[1], numbered[2]
    elif (
        after
        and after[2][-1].isdigit()
        and not key_side(after[1])
        and _INDEX_NAME.fullmatch(after[1])
    ):
        number, name = after[2], after[1]
    elif (
        first
        and _INDEX_NAME.fullmatch(first[1])
        and not key_side(first[1])
        and (here.at.section == "indexes" or re.match(r"(?i)\W*(?:gsi|lsi)", bare))
    ):
        name = first[1]
    if not name or here.at.section == "patterns":
        return ""
    told = _named_keys(bare[bare.find(name) + len(name) :])
    own = not number and re.match(r"(?i)\W*(?:index|gsi|lsi) name\b", bare) is not None
    if own and re.fullmatch(INDEX, here.at.index, re.I):
        number = here.at.index
    here.say(
        IndexStatement,
        line,
        "a property" if own else "a line of an index",
        name=name,
        number=index_number(number),
        keys=told,
    )
    return index_number(number) or name


def _tell_attributes(here: Here, line: int, text: str) -> str:
    """`GSI1PK`, `GSI1SK` in a line without values: the key attributes of GSI1."""
    sides = [side for span in codes(text) if (side := key_side(span))]
    numbers = {side.index for side in sides}
    if re.search(r"[#=]", text) or [side.side for side in sides] != [*SIDES] or len(numbers) != 1:
        return ""
    number = numbers.pop()
    if number:
        keys = tuple((side.side, side.attribute, "S") for side in sides)
        here.say(IndexStatement, line, "a line of an index", name=number, number=number, keys=keys)
    return number


def _named_keys(text: str) -> tuple[tuple[Side, str, str], ...]:
    """Key attributes by name in a line about an index."""
    found: dict[Side, tuple[Side, str, str]] = {}
    text = text.replace("`", "")
    sides: tuple[tuple[Side, str], ...] = (
        ("partition", r"partition key|hash key|pk|hash"),
        ("sort", r"sort key|range key|sk|range"),
    )
    for side, words in sides:
        hit = re.search(rf"(?i)\b(\w+) (?:as|\() ?(?:{words})\b", text) or re.search(
            rf"(?i)\b(?:{words})\b[\s:=]{{1,3}}(\w+)\b(?![#{{<])(?:\s*\((n|number)\))?", text
        )
        if (
            hit
            and attribute_in(hit[1])
            and not re.fullmatch(r"(?i)is|the|and|for|on|string|number|key|s|n", hit[1])
        ):
            number = "N" if hit.re.groups > 1 and hit[2] else "S"
            found[side] = side, hit[1], number
    if not found and (pair := re.match(r"\W+(\w+)\s*(?:/|,|\+)\s*(\w+)\s*\)?\W*$", text)):
        found = {"partition": ("partition", pair[1], "S"), "sort": ("sort", pair[2], "S")}
    return tuple(found.values())


_TITLED_KEYS = re.compile(
    rf"(?i)\W*{INDEX}\W+([A-Za-z][\w.-]*(?:index|gsi))\W*\)\W*:\W*(?=(?:pk|partition key|hash)\b)"
)


def tell_titled_keys(here: Here, line: int, text: str) -> bool:
    """`GSI-1 (`EmailIndex`): `PK = email`, `SK = USER#<id>``: an index by its own name."""
    titled = _TITLED_KEYS.match(text)
    found = key_clauses(text[titled.end() :], here.names) if titled else []
    if titled is None or not found or any(c.side.index or c.operator != "=" for c in found):
        return False
    here.say(IndexStatement, line, "a line of an index", name=titled[1])
    there = here.about(index=titled[1])
    for clause in found:
        side, key = KeySide(titled[1], clause.side.side), clause.value
        if key is not None and key.is_name:
            tell_attribute(there, line, "", side, key.text, "S", "a line of an index")
            key = WrittenKey(f"<{key.text}>")
        tell_key(there, line, here.at.entity, side, key, clause.raw, "a line of an index")
    return True
