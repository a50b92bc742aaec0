"""Example items in fences: their attributes, and their keys by the values of these."""

from __future__ import annotations

import json
import re
from typing import Any

from keyfold_workbench.adopt.document.here import Here
from keyfold_workbench.adopt.document.key_side import key_side
from keyfold_workbench.adopt.document.key_text import WrittenKey, key_text
from keyfold_workbench.adopt.document.notations import KIND, READ_WORD
from keyfold_workbench.adopt.document.property_rows import key_mark
from keyfold_workbench.adopt.document.statements import AttributeStatement, KeyStatement
from keyfold_workbench.adopt.document.telling import key_type, tell_attribute


def read_item(here: Here) -> bool:
    """Tell the item that a fence is an example of; whether it is one."""
    item = _item(here.block.text)
    if item is None or not (here.block.text.lstrip().startswith("{") or _is_example(here, item)):
        return False
    if any(key_side(name, here.names) for name in item):
        _tell_item(here, item)
    if not any(key_side(name) for name in item):
        _tell_marked(here)
    return True


def _tell_marked(here: Here) -> None:
    """`"orderId": "o-17",  // Partition key`: a comment marks an attribute as a key."""
    for line, text in here.block.lines:
        found = re.match(r"\s*[\"']?(\w+)[\"']?\s*:\s*[^/#]*(?://|#)\s*(\S.*)$", text)
        mark = key_mark(found[2]) if found else None
        if found and mark and not key_side(found[1]):
            kind = "N" if re.search(r":\s*[\d.]+\s*,?\s*/", text) else key_type(found[2])
            tell_attribute(
                here, line, here.at.entity, mark, found[1], kind, "an attribute marked as a key"
            )


_ITEM_LINE = re.compile(
    r"(?m)^(?P<indent>[^\S\n]{0,8})[\"']?(?P<name>\w+)[\"']?\s*:\s*(?:[\"'](?P<text>[^\"'\n]*)[\"']|"
    r"(?P<bare>[^\s{\[\"'](?:[^\n#]|\S#)*?))\s*,?\s*(?:(?:#|//)\s.*)?$"
)


def _item(text: str) -> dict[str, Any] | None:
    """An example item as JSON, also with comments, in a program's notation, or in lines."""
    bare = re.sub(r"(?m)(?<![:\"'])//[^\"\n]*$", "", text)
    try:
        item = json.loads(re.sub(r",(\s*[}\]])", r"\1", bare))
    except (ValueError, RecursionError):
        item = {}
        hits = [*_ITEM_LINE.finditer(text)]
        indents = [len(hit["indent"]) for hit in hits]
        for hit, indent in zip(hits, indents, strict=True):
            if indent > min(indents):
                continue  # a part of an attribute
            value = hit["text"] if hit["bare"] is None else hit["bare"]
            item[hit["name"]] = int(value) if hit["bare"] and value.isdecimal() else value
    return item if isinstance(item, dict) and item else None


def _is_example(here: Here, item: dict[str, Any]) -> bool:
    """Lines with keys that hold values: of their other attributes, or such as `"PK": "ORDER"`."""
    keys = {name: str(value) for name, value in item.items() if key_side(name)}
    values = {str(v) for name, v in item.items() if name not in keys and not KIND.fullmatch(name)}
    held = any({*value.split("#")} & values for value in keys.values())
    quoted = re.match(r"\s*\"\w+\"\s*:", here.block.text) is not None
    templates = any(re.search(r"[<{]", value) for value in keys.values())
    return bool(keys) and not templates and (held or quoted)


def _tell_item(here: Here, item: dict[str, Any]) -> None:
    """An example item: its attributes; its keys where their parts are values of attributes."""
    if not here.at.entity or READ_WORD.search(re.sub(r"(?m)(?:#|//)\s.*$", "", here.block.text)):
        return
    values: dict[str, str] = {}
    for name, value in item.items():
        if (
            not key_side(name, here.names)
            and isinstance(value, str | int)
            and not (KIND.fullmatch(name) and str(value).isupper())
        ):
            values.setdefault(str(value), name)
            if re.match(r"[A-Za-z].*\d", str(value)):
                known = here.names.values.setdefault(str(value), name)
                here.names.values[str(value)] = name if known == name else ""
    values = {**{value: name for value, name in here.names.values.items() if name}, **values}
    seen: set[str] = set()
    for line, text in here.block.lines:
        found = re.match(r"\s{0,4}[\"']?(\w+)[\"']?\s*:", text)
        if not found or found[1] not in item or found[1] in seen:
            continue
        seen.add(found[1])
        value, side = item[found[1]], key_side(found[1], here.names)
        if side and not key_side(found[1]) and "#" not in str(value):
            side = None  # an attribute that is a key by its own name
        if side and isinstance(value, str) and side.index != "*":
            key = WrittenKey(f"<{values[value]}>") if value in values else key_text(value)
            if key is not None and ("#" in value or value.isupper() or key.fields or key.example):
                key = _generalised(value, values) if not key.fields else key
                here.say(
                    KeyStatement,
                    line,
                    "an example item",
                    entity=here.at.entity,
                    side=side,
                    key=key,
                    section=here.block.path,
                )
            here.mark_read(line)
        elif side is None:
            word = {
                str: "string",
                bool: "boolean",
                int: "number",
                float: "decimal",
                list: "list",
                dict: "map",
            }.get(type(value), "")
            word = (
                "timestamp"
                if isinstance(value, str) and re.match(r"\d{4}-\d\d-\d\dT", value)
                else word
            )
            here.say(
                AttributeStatement,
                line,
                "an example item",
                entity=here.at.entity,
                name=found[1],
                type=word,
            )


def _generalised(value: str, values: dict[str, str]) -> WrittenKey:
    """`ORDER#o-17` of an item with orderId o-17 is `ORDER#<orderId>`."""
    parts = [
        f"<{values[part]}>" if part in values and (at or not part.isupper()) else part
        for at, part in enumerate(value.split("#"))
    ]
    left = [part for at, part in enumerate(parts) if at and "<" not in part and not part.isupper()]
    text = "#".join(parts)
    return WrittenKey(text, "", bool(left) or (text == value and not value.isupper()))
