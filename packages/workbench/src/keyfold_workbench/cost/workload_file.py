"""Workload files: YAML; every wrong word is refused with its position and the likely one.

Needs PyYAML (the extra `review`).
"""

from __future__ import annotations

import fnmatch
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

from keyfold.design import shorthand
from keyfold.design.nodes import Node, compose
from keyfold.design.schema import Effect, Place, Schema
from keyfold.design.yaml_text import DesignFileError
from keyfold.errors import KeyfoldError
from keyfold.prices import Prices, prices, regions
from keyfold.settings import nearest
from keyfold_workbench.cost import numbers as read
from keyfold_workbench.cost.numbers import (
    Words,
    byte_sizes,
    known_name,
    numbers,
    read_words,
    refuse_low_peak,
    shares,
)
from keyfold_workbench.cost.workload import (
    BurstLoad,
    ConsumerLoad,
    EntityLoad,
    FeedLoad,
    PatternLoad,
    Workload,
    WriteLoad,
)

EXPIRE = "expire "
"""The file's word for items that expire."""
PRICES = tuple(field.name for field in fields(Prices) if field.name not in ("region", "as_of"))
CALLS: Words = {"rate": read.rate, "peak": read.rate}
ENTITY: Words = {
    "items": read.amount,
    "bytes": read.whole,
    "sizes": read.sizes,
    "growth": read.number,
    "copies": read.amount,
}
PATTERN: Words = {**CALLS, "page": read.amount, "partitions": read.amount}
WRITE: Words = {**CALLS, "each": read.amount, "once": read.flag}
FEED: Words = {
    **CALLS,
    "page": read.amount,
    "sources": read.amount,
    "followers": read.amount,
    "pushed": read.share,
}
BURST: Words = {
    "factor": read.positive,
    "seconds": read.positive,
    "day": read.amount,
    "hour": read.hour,
    "focus": read.share,
}


def load(path: str | Path, schema: Schema) -> Workload:
    """Read a workload file and check it against its design."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise KeyfoldError(f"{path}: the workload file cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise KeyfoldError(f"{path}: the workload file is not UTF-8 text") from None
    return loads(text, schema, file=str(path))


def loads(text: str, schema: Schema, *, file: str = "workload.yaml") -> Workload:
    """Read a workload from YAML text."""
    if all(line.strip()[:1] in ("", "#") for line in text.splitlines()):
        raise DesignFileError(
            Place(file, 1),
            "the workload file is empty; `keyfold workload` drafts one",
        )
    reader = _Reader(schema)
    stated = read_words(
        compose(text, file),
        "a workload",
        {
            "design": reader.design,
            "region": _region,
            "prices": lambda v: numbers(v, "prices", PRICES),
            "stale_read": read.amount,
            "peak_factor": read.amount,
            "recovery": read.flag,
            "backups": read.amount,
            "entities": reader.entities,
            "patterns": reader.patterns,
            "writes": reader.writes,
            "consumers": reader.consumers,
            "feeds": reader.feeds,
            "users": read.positive,
            "bursts": reader.bursts,
        },
    )
    stated.pop("design", None)
    return Workload(**stated)


class _Reader:
    def __init__(self, schema: Schema) -> None:
        self.schema = schema

    def design(self, value: Node) -> None:
        word = value.text("the design's name")
        if self.schema.name and word != self.schema.name:
            value.refuse(f"this workload is of the design {word!r}, not of {self.schema.name!r}")

    def entities(self, value: Node) -> dict[str, EntityLoad]:
        found = {}
        for name, inner in value.items("entities with their numbers"):
            word = known_name(name, self.schema.by_entity, "entity")
            entity = self.schema.by_entity[word]
            known = {a.field for a in entity.attributes}
            names = known | {a.name for a in entity.attributes}
            placed = {placement.index for placement in entity.placements}
            stated = read_words(
                inner,
                f"the entity {word}",
                {
                    **ENTITY,
                    "attributes": partial(byte_sizes, names=names),
                    "distinct": partial(numbers, what="fields", known=known),
                    "hottest": partial(shares, what="fields", known=known),
                    "share": partial(shares, what="indexes", known=placed),
                },
            )
            if (spread := stated.get("sizes")) is not None:
                if "bytes" in stated:
                    inner.refuse(f"{word} has both bytes and sizes; remove one")
                stated["bytes"] = spread.mean
            found[word] = EntityLoad(**stated)
        return found

    def patterns(self, value: Node) -> dict[str, PatternLoad]:
        searches = [search.name for search in self.schema.searches]
        known = [*self.schema.by_pattern, *searches]
        found = {}
        for name, inner in value.items("access patterns with their rates"):
            word = known_name(name, known, "access pattern")
            what, accepted = f"the search {word}", CALLS
            if word not in searches:
                what = f"the access pattern {word}"
                needs = partial(self._fields_of, word)
                accepted = {**PATTERN, "needs": needs}
            found[word] = PatternLoad(**_read_calls(inner, what, accepted))
        return found

    def _fields_of(self, pattern: str, value: Node) -> tuple[str, ...]:
        """Fields of what a pattern reads."""
        found = [field.text("a field") for field in value.elements("fields")]
        entities = (self.schema.by_entity.get(e) for e in self.schema.by_pattern[pattern].entities)
        known = {field for entity in entities if entity for field in entity.by_field}
        for field in found:
            if known and field not in known:
                value.refuse(f"{pattern} reads no field {field!r}; {nearest(field, known)}")
        return tuple(found)

    def writes(self, value: Node) -> tuple[WriteLoad, ...]:
        found = []
        for name, inner in value.items("writes with their rates"):
            word = name.text("a write")
            effects, atomic = self._effects(name, word)
            stated = _read_calls(inner, f"the write {word}", WRITE)
            expired = word.startswith(EXPIRE)
            found.append(WriteLoad(word, effects, atomic=atomic, expired=expired, **stated))
        return tuple(found)

    def consumers(self, value: Node) -> dict[str, ConsumerLoad]:
        known = [consumer.name for consumer in self.schema.consumers]
        several: dict[str, ConsumerLoad] = {}
        found: dict[str, ConsumerLoad] = {}
        accepted = {
            "reads": self._pattern_names,
            "writes": self._effects_of_all,
            "events": read.amount,
            "share": read.share,
        }
        for name, inner in value.items("consumers with what they do"):
            word = name.text("the name of a consumer")
            load = ConsumerLoad(**read_words(inner, f"the consumer {word}", accepted))
            matched = fnmatch.filter(known, word) if "*" in word else []
            several |= dict.fromkeys(matched, load)
            if not matched:
                found[known_name(name, known, "consumer")] = load
        return several | found

    def feeds(self, value: Node) -> dict[str, FeedLoad]:
        known = {feed.name for feed in self.schema.feeds}
        found = {}
        for name, inner in value.items("feeds with their rates"):
            word = known_name(name, known, "feed")
            found[word] = FeedLoad(**_read_calls(inner, f"the feed {word}", FEED))
        return found

    def bursts(self, value: Node) -> tuple[BurstLoad, ...]:
        found = []
        accepted: Words = {
            "calls": self._burst_calls,
            **BURST,
            "on": self._any_fields,
        }
        for name, inner in value.items("bursts with the calls that come"):
            word = name.text("the name of a burst")
            stated = read_words(inner, f"the burst {word}", accepted)
            if not stated.get("calls"):
                inner.refuse(f"the burst {word} must name its calls")
            if stated.get("focus") and not stated.get("on"):
                inner.refuse(f"the burst {word} has a focus, so it must name the fields in on")
            found.append(BurstLoad(word, **stated))
        return tuple(found)

    def _any_fields(self, value: Node) -> tuple[str, ...]:
        known = {field for entity in self.schema.entities for field in entity.by_field}
        found = [field.text("a field") for field in value.elements("fields")]
        for field in found:
            if field not in known:
                value.refuse(f"no entity has a field {field!r}; {nearest(field, known)}")
        return tuple(found)

    def _burst_calls(self, value: Node) -> tuple[str, ...]:
        found = []
        for name in value.elements("access patterns, feeds and writes"):
            word = name.text("a call")
            feeds = {f"feed {feed.name}" for feed in self.schema.feeds}
            if word not in self.schema.by_pattern and word not in feeds:
                self._effects(name, word)
            found.append(word)
        return tuple(found)

    def _pattern_names(self, value: Node) -> tuple[str, ...]:
        return tuple(
            known_name(name, self.schema.by_pattern, "access pattern")
            for name in value.elements("access patterns")
        )

    def _effects_of_all(self, value: Node) -> tuple[Effect, ...]:
        found: list[Effect] = []
        for name in value.elements("writes such as: create Order"):
            found += self._effects(name, name.text("a write"))[0]
        return tuple(found)

    def _effects(self, name: Node, word: str) -> tuple[tuple[Effect, ...], bool]:
        for operation in self.schema.operations:
            if operation.name == word:
                return operation.effects, bool(operation.atomic)
        effect = shorthand.effect(word.replace(EXPIRE, "delete ", 1))
        operations = [operation.name for operation in self.schema.operations]
        if effect is None:
            hint = f"; {nearest(word, operations)}" if operations else ""
            name.refuse(
                f"{word!r} is neither an operation of the design nor a write such as: "
                f"create Order, update Order (notes), delete Order{hint}"
            )
        if effect.entity not in self.schema.by_entity:
            name.refuse(
                f"unknown entity {effect.entity!r}; {nearest(effect.entity, self.schema.by_entity)}"
            )
        entity = self.schema.by_entity[effect.entity]
        fields = {a.field for a in entity.attributes}
        for field in effect.fields:
            if fields and field not in fields:
                name.refuse(f"{entity.name} has no field {field!r}; {nearest(field, fields)}")
        return (effect,), False


def _read_calls(value: Node, what: str, accepted: Words) -> dict[str, Any]:
    """What is known of a call; its peak is at least its average."""
    stated = read_words(value, what, accepted)
    refuse_low_peak(value, stated)
    return stated


def _region(value: Node) -> str:
    word = value.text("a region")
    if word not in regions():
        value.refuse(
            f"the prices of {word!r} are unknown; set them under prices, or use "
            f"{', '.join(regions())} (prices of {prices().as_of})"
        )
    return word
