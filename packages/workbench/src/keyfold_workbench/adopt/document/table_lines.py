"""Sentences about a table: its name, its key attributes, its time to live, its stream."""

from __future__ import annotations

import re

from keyfold_workbench.adopt.document.here import Here
from keyfold_workbench.adopt.document.key_side import INDEX, Side, key_side
from keyfold_workbench.adopt.document.notations import READ_WORD, STRUCTURE
from keyfold_workbench.adopt.document.statements import TableStatement
from keyfold_workbench.adopt.document.telling import key_type

_NAMED = re.compile(
    r"(?i)\W*(?:(?:the|our|a|main|single|one|dynamodb) )*table\b(?: name)?[\s:*]*"
    r"(?:(?:is )?(?:named|called) )?"
    r"(?:`(?P<code>[\w.${}<>-]{3,})`|\*\*(?P<bold>[\w.-]{3,})\*\*|"
    r"(?P<bare>[\w.-]{3,})(?=,| with\b| has\b|:))"
)
_KEY = re.compile(
    r"(?i)\b(?P<side>partition|hash|sort|range)[ -]key\b(?: \([ps]k\))?[\s:=*]*"
    r"(?:(?:is|named|called) )?(?:the attribute )?(?:`(?P<code>[A-Za-z_][\w-]*)`|"
    r"\*\*(?P<bold>[A-Za-z_]\w*)\*\*|(?P<bare>[ps]k|[a-z]+[A-Z_]\w*)(?![\w#]))"
    r"(?P<type>\s*\([^()]*\))?"
)
_INDEX = re.compile(rf"(?i)\b(?:{INDEX}|ind(?:ex|exes|ices))\b")
_TTL = re.compile(
    r"(?i)\b(?:TTL|time[ -]to[ -]live)\b(?:\W{1,4}(?:is )?(?:enabled )?(?:on|via) (?:the )?"
    r"(?:attribute )?| (?:attribute|field)\b\W{0,3}(?:is |called |named )?)`(\w+)`"
)
_TTL_LABEL = re.compile(r"(?i)(?:ttl|time to live)(?: config\w*| settings?)?")
_STREAM = re.compile(r"NEW_AND_OLD_IMAGES|NEW_IMAGE|OLD_IMAGE")


def tell_table_keys(here: Here, line: int, text: str) -> bool:
    """`Table `orders`, partition key `PK`, sort key `SK`, TTL attribute `expires`.`"""
    named = _NAMED.match(text)
    if named is None or here.at.section == "patterns" or READ_WORD.search(text):
        return False
    name = next(filter(None, named.groups()))
    own, *others = _INDEX.split(text[named.end() :], maxsplit=1)
    found = [*_KEY.finditer(own)]
    keys: dict[Side, tuple[Side, str, str]] = {}
    for hit in found:
        side: Side = "partition" if hit["side"].lower() in ("partition", "hash") else "sort"
        attribute = hit["code"] or hit["bold"] or hit["bare"]
        known = key_side(attribute)
        if side in keys or (known and (known.index or known.side != side)):
            return False
        keys[side] = side, attribute, key_type(hit["type"] or "")
    if "partition" not in keys or (named["bare"] and name.lower() in STRUCTURE):
        return False
    here.say(
        TableStatement,
        line,
        "a sentence about a table",
        table=name,
        title=name,
        name=name,
        keys=tuple(keys.values()),
        ttl=ttl[1] if (ttl := _TTL.search(text)) else "",
        stream=stream[0] if (stream := _STREAM.search(text)) else "",
    )
    if any(_KEY.search(other) for other in others):
        here.ask(line, f"Which indexes has {name}? Only its own key is read from this line.")
    return True


def tell_table(here: Here, line: int, text: str) -> bool:
    """`The table is named **`orders`**`; time to live in a sentence."""
    name = re.search(r"(?i)\btable\*{0,2} (?:is )?(?:named|called)\s+[*`]*([\w.${}-]{3,})", text)
    said = f"TTL {text}" if _TTL_LABEL.fullmatch(here.block.label) else text
    expiry, stream = _TTL.search(said), _STREAM.search(text)
    if not (name or expiry or stream):
        return False
    here.say(
        TableStatement,
        line,
        "a sentence",
        title=here.at.table,
        name=name[1] if name else "",
        ttl=expiry[1] if expiry else "",
        stream=stream[0] if stream else "",
    )
    return not READ_WORD.search(text)
