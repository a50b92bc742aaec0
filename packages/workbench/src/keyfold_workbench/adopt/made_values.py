"""Generates realistic values for types: names, prices, times, texts within bounds."""

from __future__ import annotations

import re
import types
import uuid
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from random import Random
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from keyfold.design.entity_spec import EntitySpec
from keyfold.design.fields import FieldSpec
from keyfold.design.markers import AtMost, Ttl
from keyfold.design.states import States
from keyfold.errors import KeyfoldError
from keyfold.review.draft import names

NOW = datetime(2026, 1, 1, tzinfo=UTC)
"""The end of generated times, so that a seed always gives the same items."""
LASTS = timedelta(days=3650)
"""Generated items with a time to live do not expire soon."""
LONG = ("description", "body", "content", "text", "message", "comment", "note", "summary")
"""Last words of fields that hold long texts."""
_CLASS = re.compile(r"\[[^]]+\][+*]?")
"""A character class of a pattern; between its classes a pattern often has fixed texts."""
_BOUNDS = ("ge", "gt", "le", "lt", "min_length", "max_length")


def _words(text: str) -> list[str]:
    return text.split()


FIRST = _words("Ada Ben Cleo Dan Eva Finn Gita Hugo Ines Jan Kira Leo Mona Nils Olga Paul Rosa")
LAST = _words("Abel Berg Cohn Diaz Ernst Falk Grau Hahn Iqbal Jung Kern Lang Moser Nagy Ott Pohl")
TOWNS = _words("Aachen Bonn Celle Dresden Essen Fulda Gotha Halle Jena Kassel Lindau Mainz Neuss")
WORDS = _words("amber basil cedar delta ember fjord grove hazel iris jade lemon maple north ocean")


class ValueMaker:
    """Generates values from the names and types of fields."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self._adapters: dict[tuple[str, str], TypeAdapter[Any]] = {}

    def make(self, spec: EntitySpec, field: FieldSpec, number: int, created: datetime) -> Any:
        """A value within the field's type and bounds."""
        info = spec.entity.model_fields[field.name]
        marks = [*info.metadata, *field.marks]
        words = names.words(field.name)
        if field.mark(Ttl) is not None:
            created = NOW + LASTS
        states = field.mark(States)
        if states is not None and states.start:
            return self.random.choice(states.start)
        adapter = self._adapter(spec, field)
        for value in self._tries(words, info.annotation, marks, number, created):
            try:
                return adapter.validate_python(value)
            except ValidationError as problem:
                refused = problem.errors()[0]["msg"]
        raise KeyfoldError(
            f"{spec.name}.{field.name}: no generated value fits its type ({refused}); leave "
            f"the entity out with a count of 0: {spec.name}=0"
        )

    def _adapter(self, spec: EntitySpec, field: FieldSpec) -> TypeAdapter[Any]:
        found = self._adapters.get((spec.name, field.name))
        if found is None:
            info = spec.entity.model_fields[field.name]
            hint: Any = info.annotation
            found = TypeAdapter(Annotated[(hint, *info.metadata)] if info.metadata else hint)
            self._adapters[spec.name, field.name] = found
        return found

    def _tries(
        self, words: list[str], hint: Any, marks: Iterable[Any], number: int, created: datetime
    ) -> Iterator[Any]:
        """The likeliest value first, then texts of other shapes for pattern constraints."""
        marks = list(marks)
        first = self.value(words, hint, marks, number, created)
        yield first
        if not isinstance(first, str):
            return
        bounds = _bounds(marks)
        one, two = self.random.sample(WORDS, 2)
        digits = f"{self.random.randrange(10**12):012d}"
        shapes = (
            one, f"{one}_{two}", f"{one}-{two}", f"{one}{number}", one.upper(), one.capitalize(),
            digits[:2], digits[:4], digits[:5], digits[:6], digits[:8], digits,
            f"+49{digits[:9]}", f"{one}@example.org", f"https://example.org/{one}",
            f"{created:%Y-%m-%d}", f"{created:%Y-%m}", f"{created:%Y}", f"{created:%H:%M}",
            "de", "DE", "EUR", "en-GB", "#3366cc", f"{self.random.getrandbits(128):032x}",
            f"{self.random.getrandbits(256):064x}", str(self._uuid()), f"{one}/{two}.jpg",
        )  # fmt: skip
        for pattern in (getattr(mark, "pattern", None) for mark in marks):
            if isinstance(pattern, str):
                yield _CLASS.sub(lambda _: f"{one}{number}", pattern.strip("^$"))
        for shape in shapes:
            yield shape
            yield _cut(shape, bounds, padding="x")

    def value(
        self, words: list[str], hint: Any, marks: Iterable[Any], number: int, created: datetime
    ) -> Any:
        """A value of a type."""
        origin, parts = get_origin(hint), get_args(hint)
        if origin is Annotated:
            return self.value(words, parts[0], [*marks, *parts[1:]], number, created)
        if origin in (Union, types.UnionType):
            present = next(one for one in parts if one is not type(None))
            return self.value(words, present, marks, number, created)
        if origin is Literal:
            return self.random.choice(list(parts))
        if origin in (list, set, frozenset, tuple, dict) or hint in (list, set, tuple, dict):
            return self._several(words, hint, marks, number, created)
        if not isinstance(hint, type):
            return {"note": self.random.choice(WORDS)}
        if issubclass(hint, Enum):
            return self.random.choice(list(hint))
        if issubclass(hint, BaseModel):
            return {
                name: self.value(names.words(name), info.annotation, info.metadata, number, created)
                for name, info in hint.model_fields.items()
                if info.is_required()
            }
        return self._scalar(words, hint, _bounds(marks), number, created)

    def _several(
        self, words: list[str], hint: Any, marks: Iterable[Any], number: int, created: datetime
    ) -> Any:
        origin, parts = get_origin(hint) or hint, get_args(hint)
        inner = parts[0] if parts else str
        if origin is tuple and parts and Ellipsis not in parts:
            return tuple(self.value(words, one, (), number, created) for one in parts)
        bounds = _bounds(marks)
        least = int(bounds.get("min_length", 0))
        most = int(bounds.get("max_length", least + 3))
        length = max(least, min(most, 3 if origin is not list else self.random.randrange(4)))
        if origin is dict:
            kinds = parts or (str, str)
            keys = [self.value(words, kinds[0], (), number, created) for _ in range(length)]
            return {key: self.value(words, kinds[1], (), number, created) for key in keys}
        if inner is str:
            return self.random.sample(WORDS, min(length, len(WORDS)))
        return [self.value(words, inner, (), number, created) for _ in range(length)]

    def _scalar(
        self,
        words: list[str],
        hint: type[Any],
        bounds: Mapping[str, Any],
        number: int,
        created: datetime,
    ) -> Any:
        last = words[-1]
        if issubclass(hint, bool):
            return self.random.random() < 0.5
        if issubclass(hint, int):
            return self._whole(bounds, 5 if last in ("version", "level") else 500)
        if issubclass(hint, float | Decimal):
            amount = Decimal(self._whole(_in_hundredths(bounds), 30_000)) / 100
            return amount if issubclass(hint, Decimal) else float(amount)
        if issubclass(hint, datetime):
            later = timedelta(seconds=self.random.randrange(30 * 86400))
            first = words[0] in ("created", "at", "timestamp", "date")
            moment = created if first else created + later
            return moment.replace(microsecond=moment.microsecond // 1000 * 1000)
        if issubclass(hint, date):
            return (created + timedelta(days=self.random.randrange(30))).date()
        if issubclass(hint, timedelta):
            return timedelta(minutes=self.random.randrange(1, 600))
        if issubclass(hint, bytes):
            return self.random.randbytes(16)
        if issubclass(hint, uuid.UUID):
            return self._uuid()
        return _cut(self._text(words, number), bounds)

    def _whole(self, bounds: Mapping[str, Any], most: int) -> int:
        least = int(bounds.get("ge", int(bounds["gt"]) + 1 if "gt" in bounds else min(1, most)))
        highest = bounds.get("le", bounds["lt"] - 1 if "lt" in bounds else None)
        if highest is None:
            highest = max(most, least + 500)
        return self.random.randrange(min(least, int(highest)), int(highest) + 1)

    def _uuid(self) -> uuid.UUID:
        return uuid.UUID(int=self.random.getrandbits(128), version=4)

    def _text(self, words: list[str], number: int) -> str:
        first, last = self.random.choice(FIRST), self.random.choice(LAST)
        told = {
            "email": f"{first.lower()}.{last.lower()}{number}@example.org",
            "name": f"{first} {last}",
            "username": f"{first.lower()}{number}",
            "user": f"{first.lower()}{number}",
            "city": self.random.choice(TOWNS),
            "town": self.random.choice(TOWNS),
            "country": self.random.choice(["AT", "CH", "DE", "FR", "PL"]),
            "url": f"https://example.org/{self.random.choice(WORDS)}/{number}",
            "phone": f"+49 30 {self.random.randrange(10**6, 10**7)}",
            "currency": self.random.choice(["CHF", "EUR", "GBP"]),
            "street": f"{last} Street {self.random.randrange(99)}",
        }
        if words[-1] in ("id", "uuid", "token", "key", "code", "number"):
            return str(self._uuid())
        if words[-1] in told:
            return told[words[-1]]
        length = 12 if words[-1] in LONG else 2
        return " ".join(self.random.choice(WORDS) for _ in range(length))


def _bounds(marks: Iterable[Any]) -> dict[str, Any]:
    """The bounds of a field's value, from its markers."""
    found: dict[str, Any] = {}
    for mark in marks:
        for name in _BOUNDS:
            if (bound := getattr(mark, name, None)) is not None:
                found[name] = bound
        if isinstance(mark, FieldInfo):
            found |= _bounds(mark.metadata)
        if isinstance(mark, AtMost):
            found["max_length"] = mark.items
    return found


def _in_hundredths(bounds: Mapping[str, Any]) -> dict[str, Any]:
    """The bounds of an amount in hundredths."""
    return {name: float(bound) * 100 for name, bound in bounds.items()}


def _cut(text: str, bounds: Mapping[str, Any], padding: str = " ") -> str:
    """A text cut to its length limits."""
    cut = text[: bounds.get("max_length", len(text))]
    cut = cut.strip() or cut
    return cut.ljust(bounds.get("min_length", 0), padding if padding != " " else "x")
