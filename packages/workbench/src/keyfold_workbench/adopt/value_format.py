"""Infers the type and format of an attribute from all its values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime

from keyfold.review.draft import names

Item = Mapping[str, Mapping[str, object]]
Typed = tuple[str, str]
"""A type of a design file, and the format it is stored in."""

MOMENT = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?")
_SPELLINGS = {
    "iso": re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z"),
    "iso_ms": re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"),
    "iso_s": re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"),
    "iso_offset": re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+0000"),
}
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_TIME_WORDS = {
    "at", "date", "time", "timestamp", "ts", "ttl", "expires", "expiry", "expiration", "created",
    "updated", "deleted", "modified", "since", "until", "on", "started", "ended", "epoch", "seen",
}  # fmt: skip
_SECONDS = (10**9, 4 * 10**9)
_PLAIN = {
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
}
MOST_CHOICES = 12


def text(item: Item, attribute: str) -> str | None:
    """A string or number as text; empty for other types, which cannot be in a key's text."""
    value = item.get(attribute)
    if value is None:
        return None
    kind, content = next(iter(value.items()))
    return str(content) if kind in ("S", "N", "B") else None


def is_moment(value: str) -> bool:
    """Whether a text is a valid date or time."""
    if not MOMENT.fullmatch(value):
        return False
    try:
        datetime.fromisoformat(value.replace(",", "."))
    except ValueError:
        return False
    return True


def moment_type(values: Iterable[str]) -> Typed | None:
    """`timestamp` with their common format, `date`, or empty.

    Times in a format that keyfold does not write stay strings, so that nothing is rewritten.
    """
    found = list(values)
    if not found:
        return None
    for name, spelled in _SPELLINGS.items():
        if all(spelled.fullmatch(value) for value in found) and all(map(is_moment, found)):
            return "timestamp", name
    if all(_DAY.fullmatch(value) and _is_day(value) for value in found):
        return "date", ""
    return None


def _is_day(value: str) -> bool:
    try:
        date.fromisoformat(value)
    except ValueError:
        return False
    return True


def attribute_type(name: str, values: Sequence[Mapping[str, object]]) -> Typed:
    """A design file's type for the values of one attribute, and their format."""
    kinds = {next(iter(value)) for value in values} - {"NULL"}
    if len(kinds) != 1:
        return "any", ""
    kind = kinds.pop()
    content = [value[kind] for value in values if kind in value]
    if kind == "S":
        spelled = moment_type(str(value) for value in content)
        if spelled:
            return spelled
        return ("id" if names.words(name)[-1] in ("id", "uuid") else "string"), ""
    if kind == "N":
        return _number_type(name, [str(value) for value in content])
    return _PLAIN[kind], ""


def _number_type(name: str, values: Sequence[str]) -> Typed:
    if not all(re.fullmatch(r"-?\d+", value) for value in values):
        return "decimal", ""
    low, high = _SECONDS
    if _TIME_WORDS & set(names.words(name)):
        if all(low <= int(value) < high for value in values):
            return "timestamp", "epoch"
        if all(1000 * low <= int(value) < 1000 * high for value in values):
            return "timestamp", "epoch_ms"
    return "number", ""


def choices(values: Sequence[Mapping[str, object]]) -> tuple[str, ...]:
    """The few words that an attribute takes, where it takes few and each of them often."""
    texts = [str(value["S"]) for value in values if "S" in value]
    found = set(texts)
    if len(texts) < 30 or not 2 <= len(found) <= MOST_CHOICES or len(texts) < 8 * len(found):
        return ()
    if any("," in value or not value.strip() or is_moment(value) for value in found):
        return ()
    return tuple(sorted(found))
