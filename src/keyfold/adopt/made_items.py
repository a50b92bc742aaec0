"""Believable, consistent items for a design, by a seed: names, prices, times, references."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import Enum
from random import Random
from typing import Any, Literal, get_args, get_origin

from keyfold.design.design import Declarations
from keyfold.design.entity import Entity, EntitySpec
from keyfold.design.fields import FieldSpec
from keyfold.design.markers import Created, Ttl, Updated, Version
from keyfold.design.schema import EntitySchema, Schema
from keyfold.errors import KeyfoldError
from keyfold.maintain.counter import Counter
from keyfold.review.draft import names
from keyfold.values.size import item_size

NOW = datetime(2026, 1, 1, tzinfo=UTC)
"""The moment that made times lead up to, so that a seed always gives the same items."""
CHILDREN = 6
"""Items of an entity for each one that it belongs to, where nothing is said."""
_ATTEMPTS = 50


def _words(text: str) -> list[str]:
    return text.split()


_FIRST = _words("Ada Ben Cleo Dan Eva Finn Gita Hugo Ines Jan Kira Leo Mona Nils Olga Paul Rosa")
_LAST = _words("Abel Berg Cohn Diaz Ernst Falk Grau Hahn Iqbal Jung Kern Lang Moser Nagy Ott Pohl")
_TOWNS = _words("Aachen Bonn Celle Dresden Essen Fulda Gotha Halle Jena Kassel Lindau Mainz Neuss")
_WORDS = _words("amber basil cedar delta ember fjord grove hazel iris jade lemon maple north ocean")
_LONG = ("description", "body", "content", "text", "message", "comment", "note", "summary")
"""Last words of fields that hold texts of any length."""
_SHARE = re.compile(r"(\d+)% of the sample")


@dataclass
class ItemMaker:
    """Makes items of a design, those that others belong to first."""

    design: Declarations
    seed: int = 0
    schema: Schema | None = None
    """The design file, where one says more than Python does: references, shares, sizes."""
    made: dict[str, list[Entity]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.random = Random(self.seed)
        self.design.complete()
        self.specs = {
            name: entity.__spec__
            for name, entity in self.design.entities.items()
            if entity.__spec__.role == "canonical"
        }
        self.stated: dict[str, EntitySchema] = {}
        for entity in self.schema.entities if self.schema else ():
            self.stated[names.class_name(entity.name)] = entity

    def make(self, total: int, counts: Mapping[str, int] | None = None) -> Iterator[Entity]:
        """About so many items; `counts` says how many of some entities."""
        for name in counts or ():
            if name not in self.specs:
                raise KeyfoldError(f"{self.design.name} has no entity {name} to make items of")
        parents = {name: self._parents(spec) for name, spec in self.specs.items()}
        order = _ordered(parents)
        wanted = {**self._counts(order, parents, total), **(counts or {})}
        for name in order:
            self.made[name] = []
            seen: set[str] = set()
            for number in range(wanted[name]):
                entity = self._entity(self.specs[name], parents[name], number, seen)
                if entity is None:
                    break
                self.made[name].append(entity)
                yield entity

    def _counts(
        self, order: list[str], parents: Mapping[str, dict[str, str]], total: int
    ) -> dict[str, int]:
        """By the shares that a sample had, or more of what belongs to others."""
        weights: dict[str, float] = {}
        for name in order:
            told = _SHARE.match(self.stated[name].description) if name in self.stated else None
            above = [weights[p] for p in set(parents[name].values()) if p in weights]
            weights[name] = (
                float(told[1]) or 0.5 if told else CHILDREN * max(above, default=1 / CHILDREN)
            )
        scale = total / sum(weights.values())
        return {name: max(1, round(weight * scale)) for name, weight in weights.items()}

    def _parents(self, spec: EntitySpec) -> dict[str, str]:
        """For each field that holds another entity's id, whose."""
        found: dict[str, str] = {}
        for other_name, other in self.specs.items():
            own = list(dict.fromkeys(other.key.templates.fields))
            if len(own) != 1 or other is spec or own[0] not in spec.fields:
                continue
            keyed = set(spec.key.templates.fields)
            if keyed != {own[0]}:
                found[own[0]] = other_name
        stated = self.stated.get(spec.name)
        for attribute in stated.attributes if stated else ():
            name = names.field(attribute.field)
            target = names.class_name(attribute.refers) if attribute.refers else ""
            if target in self.specs and target != spec.name and name in spec.fields:
                found[name] = target
        return found

    def _entity(
        self, spec: EntitySpec, parents: Mapping[str, str], number: int, seen: set[str]
    ) -> Entity | None:
        """A new item with a key of its own; None where no more keys are to be had."""
        for _ in range(_ATTEMPTS):
            values = self._values(spec, parents, number)
            entity = spec.entity(**values)
            key = repr(spec.key_of(entity.__dict__))
            if key not in seen:
                seen.add(key)
                return self._sized(spec, entity)
        return None

    def _values(self, spec: EntitySpec, parents: Mapping[str, str], number: int) -> dict[str, Any]:
        values: dict[str, Any] = {}
        linked: dict[str, Entity] = {}
        for name, target in parents.items():
            if self.made.get(target):
                parent = self._skewed(self.made[target])
                linked[target] = parent
                own = next(iter(dict.fromkeys(parent.__spec__.key.templates.fields)))
                held = getattr(parent, own)
                values[name] = {held} if spec.fields[name].kind.endswith("_set") else held
        created = NOW - timedelta(seconds=self.random.expovariate(1 / (90 * 86400)))
        for name, specced in spec.fields.items():
            if name in values or self._left_out(specced):
                continue
            if (
                specced.optional
                and self.random.random() < 0.3
                and name not in spec.key.templates.fields
            ):
                continue
            values[name] = self._copied(name, linked) or self._value(spec, specced, number, created)
        return values

    def _left_out(self, specced: FieldSpec) -> bool:
        """What keyfold sets itself."""
        marks = (Version, Counter, Created, Updated, Ttl)
        return any(specced.mark(mark) is not None for mark in marks)

    def _skewed(self, among: list[Entity]) -> Entity:
        """Few of them have much, as everywhere."""
        place = int(len(among) * self.random.random() ** 2)
        return among[min(place, len(among) - 1)]

    def _copied(self, name: str, linked: Mapping[str, Entity]) -> Any:
        """`customer_name` is the name of the customer that the item belongs to."""
        for target, parent in linked.items():
            prefix = "_".join(names.words(target)) + "_"
            if name.startswith(prefix) and name[len(prefix) :] in parent.__spec__.fields:
                return getattr(parent, name[len(prefix) :])
        return None

    def _value(self, spec: EntitySpec, specced: FieldSpec, number: int, created: datetime) -> Any:
        info = spec.entity.model_fields[specced.name]
        choices = _choices(info.annotation)
        if choices:
            return self.random.choice(choices)
        words = names.words(specced.name)
        kind, last = specced.kind, words[-1]
        if kind in ("string", "uuid"):
            return self._text(words, number)
        if kind == "integer":
            return self.random.randrange(1, 5 if last in ("version", "level") else 500)
        if kind in ("decimal", "float"):
            amount = Decimal(self.random.randrange(100, 30_000)) / 100
            return amount if kind == "decimal" else float(amount)
        if kind == "boolean":
            return self.random.random() < 0.5
        if kind == "timestamp":
            later = timedelta(seconds=self.random.randrange(30 * 86400))
            first = words[0] in ("created", "at", "timestamp", "date")
            moment = created if first else created + later
            return moment.replace(microsecond=moment.microsecond // 1000 * 1000)
        if kind == "date":
            return (created + timedelta(days=self.random.randrange(30))).date()
        if kind == "duration":
            return timedelta(minutes=self.random.randrange(1, 600))
        if kind == "binary":
            return self.random.randbytes(16)
        if kind == "string_set":
            return set(self.random.sample(_WORDS, 3))
        if kind == "number_set":
            return {self.random.randrange(100) for _ in range(3)}
        if kind == "binary_set":
            return {self.random.randbytes(4)}
        if kind == "list":
            return [self.random.choice(_WORDS) for _ in range(self.random.randrange(4))]
        return {"note": self.random.choice(_WORDS)} if kind in ("map", "any") else None

    def _text(self, words: list[str], number: int) -> str:
        first, last = self.random.choice(_FIRST), self.random.choice(_LAST)
        told = {
            "email": f"{first.lower()}.{last.lower()}{number}@example.org",
            "name": f"{first} {last}",
            "username": f"{first.lower()}{number}",
            "user": f"{first.lower()}{number}",
            "city": self.random.choice(_TOWNS),
            "town": self.random.choice(_TOWNS),
            "country": self.random.choice(["AT", "CH", "DE", "FR", "PL"]),
            "url": f"https://example.org/{self.random.choice(_WORDS)}/{number}",
            "phone": f"+49 30 {self.random.randrange(10**6, 10**7)}",
            "currency": self.random.choice(["CHF", "EUR", "GBP"]),
            "street": f"{last} Street {self.random.randrange(99)}",
        }
        if words[-1] in ("id", "uuid", "token", "key", "code", "number"):
            return str(uuid.UUID(int=self.random.getrandbits(128), version=4))
        if words[-1] in told:
            return told[words[-1]]
        length = 12 if words[-1] in _LONG else 2
        return " ".join(self.random.choice(_WORDS) for _ in range(length))

    def _sized(self, spec: EntitySpec, entity: Entity) -> Entity:
        """Longer texts, where the design says how large an item is."""
        stated = self.stated.get(spec.name)
        if stated is None or not stated.bytes:
            return entity
        missing = stated.bytes - item_size(spec.encode(entity))
        keyed = {f for p in (spec.key, *spec.placements.values()) for f in p.templates.fields}
        for name, specced in spec.fields.items():
            value = getattr(entity, name)
            free = specced.kind == "string" and name not in keyed and isinstance(value, str)
            if free and missing > 20 and names.words(name)[-1] in _LONG:
                more = " ".join(self.random.choice(_WORDS) for _ in range(missing // 6))
                return entity.model_copy(update={name: f"{value} {more}"})
        return entity


def _choices(annotation: Any) -> list[Any]:
    """The values that a field is restricted to."""
    if get_origin(annotation) is Literal:
        return list(get_args(annotation))
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return list(annotation)
    inner = [each for each in get_args(annotation) if each is not type(None)]
    return _choices(inner[0]) if len(inner) == 1 and type(None) in get_args(annotation) else []


def _ordered(parents: Mapping[str, dict[str, str]]) -> list[str]:
    """Each entity after those that it refers to; circles are cut where they begin."""
    order: list[str] = []

    def visit(name: str, above: tuple[str, ...]) -> None:
        if name in order or name in above:
            return
        for parent in parents[name].values():
            visit(parent, (*above, name))
        order.append(name)

    for name in parents:
        visit(name, ())
    return order
