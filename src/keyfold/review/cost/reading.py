"""Workload files: YAML whose every wrong word is refused with its place and the nearest right one.

Needs PyYAML (the extra `review`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from keyfold.design import shorthand
from keyfold.design.nodes import DesignFileError, Value, compose
from keyfold.design.schema import Effect, Place, Schema
from keyfold.errors import KeyfoldError
from keyfold.prices import prices, regions
from keyfold.review.cost.workload import EntityLoad, PatternLoad, Workload, WriteLoad
from keyfold.settings import nearest

SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "month": 2_628_000}
_RATE = re.compile(r"(?P<number>-?[\d_.,]+)\s*(?:/|per|an?)\s*(?P<unit>\w+)")
PRICE_NAMES = ("write", "read", "write_hour", "read_hour", "storage", "recovery", "stream")

_Words = Mapping[str, Callable[[Value], Any]]


def load(path: str | Path, schema: Schema) -> Workload:
    """Read a workload file and hold it against its design."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise KeyfoldError(f"{path}: the workload file cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise KeyfoldError(f"{path}: the workload file is not UTF-8 text") from None
    return loads(text, schema, file=str(path))


def loads(text: str, schema: Schema, *, file: str = "workload.yaml") -> Workload:
    """Read a workload from YAML text."""
    if not text.strip():
        raise DesignFileError(
            Place(file, 1),
            "the workload file is empty; `keyfold workload init` drafts one",
        )
    reader = _Reader(schema)
    stated = _fields(
        compose(text, file),
        "a workload",
        {
            "design": lambda v: v.text("the design's name"),
            "region": _region,
            "prices": lambda v: _numbers(v, "prices", PRICE_NAMES),
            "stale_read": _amount,
            "peak_factor": _amount,
            "entities": reader.entities,
            "patterns": reader.patterns,
            "writes": reader.writes,
        },
    )
    stated.pop("design", None)
    return Workload(**stated)


class _Reader:
    def __init__(self, schema: Schema) -> None:
        self.schema = schema

    def entities(self, value: Value) -> dict[str, EntityLoad]:
        found = {}
        for name, inner in value.items("entities with their numbers"):
            word = _known(name, self.schema.by_entity, "entity")
            entity = self.schema.by_entity[word]
            fields = {a.field for a in entity.attributes}
            names = fields | {a.name for a in entity.attributes}
            placed = {placement.index for placement in entity.placements}
            stated = _fields(
                inner,
                f"the entity {word}",
                {
                    "items": _amount,
                    "bytes": _whole,
                    "growth": _number,
                    "copies": _amount,
                    "attributes": partial(_sizes, names=names),
                    "distinct": partial(_numbers, what="fields", known=fields),
                    "hottest": partial(_shares, known=fields),
                    "share": partial(_shares, known=placed),
                },
            )
            found[word] = EntityLoad(**stated)
        return found

    def patterns(self, value: Value) -> dict[str, PatternLoad]:
        found = {}
        for name, inner in value.items("access patterns with their rates"):
            word = _known(name, self.schema.by_pattern, "access pattern")
            stated = _fields(
                inner,
                f"the access pattern {word}",
                {
                    "rate": rate,
                    "peak": rate,
                    "page": _amount,
                    "partitions": _amount,
                    "needs": lambda v: tuple(n.text("a field") for n in v.elements("fields")),
                },
            )
            _refuse_low_peak(inner, stated)
            found[word] = PatternLoad(**stated)
        return found

    def writes(self, value: Value) -> tuple[WriteLoad, ...]:
        found = []
        for name, inner in value.items("writes with their rates"):
            word = name.text("a write")
            effects, atomic = self._effects(name, word)
            stated = _fields(
                inner, f"the write {word}", {"rate": rate, "peak": rate, "each": _amount}
            )
            _refuse_low_peak(inner, stated)
            found.append(WriteLoad(word, effects, atomic=atomic, **stated))
        return tuple(found)

    def _effects(self, name: Value, word: str) -> tuple[tuple[Effect, ...], bool]:
        for operation in self.schema.operations:
            if operation.name == word:
                return operation.effects, operation.atomic
        effect = shorthand.effect(word)
        operations = [operation.name for operation in self.schema.operations]
        if effect is None:
            hint = f"; {nearest(word, operations)}" if operations else ""
            name.refuse(
                f"{word!r} is neither an operation of the design nor a write such as: "
                f"create Order, update Order (notes), delete Order{hint}"
            )
        if effect.entity not in self.schema.by_entity:
            name.refuse(
                f"there is no entity {effect.entity!r}; "
                f"{nearest(effect.entity, self.schema.by_entity)}"
            )
        entity = self.schema.by_entity[effect.entity]
        fields = {a.field for a in entity.attributes}
        for field in effect.fields:
            if fields and field not in fields:
                name.refuse(f"{entity.name} has no field {field!r}; {nearest(field, fields)}")
        return (effect,), False


def _fields(value: Value, what: str, readers: _Words) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, inner in value.items(f"the numbers of {what}"):
        word = name.text("a word")
        if word not in readers:
            name.refuse(f"{what} has no {word!r}; {nearest(word, readers)}")
        found[word] = readers[word](inner)
    return found


def _known(name: Value, known: Iterable[str], what: str) -> str:
    word = name.text(f"the name of an {what}")
    if word not in known:
        name.refuse(f"the design has no {what} {word!r}; {nearest(word, known)}")
    return word


def _number(value: Value) -> float:
    found = value.scalar("a number")
    if isinstance(found, bool) or not isinstance(found, int | float):
        value.refuse(f"expected a number, found {value.kind}")
    return float(found)


def _amount(value: Value) -> float:
    found = _number(value)
    if found < 0:
        value.refuse(f"expected a number of 0 or more, found {found:g}")
    return found


def _whole(value: Value) -> int:
    found = _amount(value)
    if found != int(found) or not found:
        value.refuse(f"expected a whole number of bytes, 1 or more, found {found:g}")
    return int(found)


def rate(value: Value) -> float:
    """Calls a second: `20`, or `300/hour`, `5 a minute`."""
    text = value.text("a rate such as 20 (a second) or 300/hour")
    found = _RATE.fullmatch(text.strip())
    if found is None:
        try:
            number, unit = float(text.replace("_", "").replace(",", "")), "second"
        except ValueError:
            value.refuse(f"{text!r} is no rate; write 20 (a second), 300/hour or 40/day")
    else:
        number = float(found["number"].replace("_", "").replace(",", ""))
        unit = found["unit"].removesuffix("s")
        if unit not in SECONDS:
            value.refuse(f"{unit!r} is no unit of time; {nearest(unit, SECONDS)}")
    if number < 0:
        value.refuse(f"a rate cannot be less than 0, found {text}")
    return number / SECONDS[unit]


def _refuse_low_peak(value: Value, stated: Mapping[str, Any]) -> None:
    average, peak = stated.get("rate"), stated.get("peak")
    if average is not None and peak is not None and peak < average:
        value.refuse(f"the peak of {peak:g} a second is less than the average of {average:g}")


def _numbers(value: Value, what: str, known: Iterable[str]) -> dict[str, float]:
    found = {}
    for name, inner in value.items(f"{what} with numbers"):
        word = name.text("a name")
        if word not in known:
            name.refuse(f"{word!r} is none of the {what}; {nearest(word, known)}")
        found[word] = _amount(inner)
    return found


def _sizes(value: Value, names: Iterable[str]) -> dict[str, int]:
    return {word: int(size) for word, size in _numbers(value, "attributes", names).items()}


def _shares(value: Value, known: Iterable[str]) -> dict[str, float]:
    found = _numbers(value, "names", known)
    for word, share in found.items():
        if share > 1:
            value.refuse(f"{word}: a share is between 0 and 1, found {share:g}")
    return found


def _region(value: Value) -> str:
    word = value.text("a region")
    if word not in regions():
        value.refuse(
            f"the prices of {word!r} are not known; state them under prices, or use "
            f"{', '.join(regions())} (prices of {prices().as_of})"
        )
    return word
