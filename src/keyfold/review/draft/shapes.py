"""Keys seen in a table, read as templates: which parts are fixed, which are values, whose."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from keyfold.design.template import DELIMITER
from keyfold.review.draft import names

Item = Mapping[str, Mapping[str, object]]
_PREFIX = re.compile(r"[A-Z][A-Z0-9_]*")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?")


def text(item: Item, attribute: str) -> str | None:
    """A key attribute's value as text."""
    value = item.get(attribute)
    if value is None:
        return None
    return str(next(iter(value.values())))


def shape(key: str | None) -> tuple[str, ...]:
    """What keys of one entity have in common: the prefixes in their places, the number of parts."""
    if key is None:
        return ()
    return tuple(part if _PREFIX.fullmatch(part) else "" for part in key.split(DELIMITER))


def template(items: Sequence[Item], attribute: str) -> str | None:
    """The template of one key attribute over the items of one entity."""
    keys = [text(item, attribute) for item in items]
    found = [key for key in keys if key is not None]
    if not found:
        return None
    rows = [key.split(DELIMITER) for key in found]
    if len({len(row) for row in rows}) != 1:
        return _with_common_prefix(found)
    parts = []
    for position, column in enumerate(zip(*rows, strict=True)):
        if _is_fixed(column):
            parts.append(column[0])
        else:
            parts.append(f"{{{_owner(items, column, attribute, position)}}}")
    return DELIMITER.join(parts)


def _is_fixed(column: Sequence[str]) -> bool:
    """A prefix, or the same word everywhere; a value seen once may be anything."""
    if len(set(column)) != 1:
        return False
    return _PREFIX.fullmatch(column[0]) is not None or (len(column) > 2 and column[0].isalpha())


def _owner(items: Sequence[Item], column: Sequence[str], key: str, position: int) -> str:
    """The attribute that holds the same value in every item."""
    for name in items[0]:
        if name != key and all(
            text(item, name) == value for item, value in zip(items, column, strict=True)
        ):
            return name if name.isidentifier() else f"part{position}"
    moments = all(_MOMENT.fullmatch(value) for value in column)
    return f"{'at' if moments else 'part'}{position}"


def _with_common_prefix(keys: Sequence[str]) -> str:
    heads = {key.partition(DELIMITER)[0] for key in keys}
    head = heads.pop() if len(heads) == 1 else ""
    return f"{head}{DELIMITER}{{rest}}" if head and _PREFIX.fullmatch(head) else "{rest}"


def attribute_type(name: str, values: Sequence[Mapping[str, object]]) -> str:
    """A design file's type for the values of one attribute."""
    kinds = {next(iter(value)) for value in values}
    if len(kinds) != 1:
        return "any"
    kind = kinds.pop()
    if kind == "S" and all(_MOMENT.fullmatch(str(value["S"])) for value in values):
        return "timestamp"
    if kind == "S" and names.words(name)[-1] == "id":
        return "id"
    return {
        "S": "string",
        "N": "number",
        "B": "binary",
        "BOOL": "boolean",
        "NULL": "any",
        "M": "map",
        "L": "list",
        "SS": "string_set",
        "NS": "number_set",
        "BS": "binary_set",
    }[kind]
