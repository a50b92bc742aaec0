"""Random models, and what their items must look like in a table, reckoned without keyfold.

A `Shape` draws fields of many kinds, each with what it allows, what it makes of a value and how
that stands in an item. Validators forbid single values, or compare two fields.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from functools import partial
from typing import Annotated, Any, Literal

from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, Field, create_model, model_validator

from keyfold import AtMost, Stored

Wire = dict[str, Any]
Values = dict[str, Any]
Draw = Callable[[st.SearchStrategy[Any]], Any]
NOTHING = object()


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


def only(kind: str, wire: Wire) -> Any:
    """The content of a value, which must be of this type of DynamoDB."""
    assert list(wire) == [kind], wire
    return wire[kind]


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def number(text: str) -> int:
    assert Decimal(text) == int(text)
    return int(text)


def to_the_millisecond(value: datetime) -> datetime:
    return value.replace(microsecond=value.microsecond // 1000 * 1000)


def of_milliseconds(text: str) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=number(text))


@dataclass(frozen=True, repr=False)
class Kind:
    """A type of field: its values, good and bad, and how they stand in an item."""

    annotation: Any
    values: st.SearchStrategy[Any]
    read: Callable[[Wire], Any]
    allows: Callable[[Any], bool] = lambda value: True
    normal: Callable[[Any], Any] = lambda value: value
    given: Callable[[Any], Any] = lambda value: value
    """The value as a caller writes it."""
    added: st.SearchStrategy[Any] | None = None
    appended: st.SearchStrategy[Any] | None = None
    is_set: bool = False

    def __repr__(self) -> str:
        return f"Kind({self.annotation!r})"


words = st.sampled_from(["a", "b", "c", "d"])
small = st.integers(-4, 12)
times = st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC))
amounts = st.decimals("-3", "3", places=2)
SCALARS: dict[str, Kind] = {
    "whole": Kind(int, small, lambda w: number(only("N", w)), added=small),
    "bounded": Kind(
        Annotated[int, Field(ge=0, le=9)],
        small,
        lambda w: number(only("N", w)),
        lambda value: 0 <= value <= 9,
        added=small,
    ),
    "amount": Kind(Decimal, amounts, lambda w: Decimal(only("N", w)), added=amounts),
    "weight": Kind(float, st.sampled_from([0.1, -2.5, 1e-7, 3.0]), lambda w: float(only("N", w))),
    "short": Kind(
        Annotated[str, Field(max_length=3)],
        st.sampled_from(["", "a", "é", "abc", "abcd"]),
        lambda w: only("S", w),
        lambda value: len(value) <= 3,
    ),
    "upper": Kind(
        Annotated[str, AfterValidator(str.upper)], words, lambda w: only("S", w), normal=str.upper
    ),
    "yes": Kind(bool, st.booleans(), lambda w: only("BOOL", w)),
    "bytes": Kind(
        bytes, st.sampled_from([b"", b"x", b"\xff\0"]), lambda w: b64decode(only("B", w))
    ),
    "moment": Kind(datetime, times, lambda w: moment(only("S", w))),
    "day": Kind(date, st.dates(date(2020, 1, 1)), lambda w: date.fromisoformat(only("S", w))),
    "span": Kind(
        timedelta,
        st.timedeltas(timedelta(-3), timedelta(3)),
        lambda w: timedelta(microseconds=int(Decimal(only("N", w)) * 10**6)),
    ),
    "choice": Kind(
        Literal["red", "blue"],
        st.sampled_from(["red", "blue", "green"]),
        lambda w: only("S", w),
        lambda value: value in ("red", "blue"),
    ),
    "colour": Kind(
        Colour,
        st.sampled_from(["red", "blue", "green"]),
        lambda w: only("S", w),
        lambda value: value in ("red", "blue"),
        given=lambda value: Colour(value) if value != "green" else value,
    ),
    "either": Kind(
        int | str, small | words, lambda w: number(w["N"]) if "N" in w else only("S", w)
    ),
}
COLLECTIONS: dict[str, Kind] = {
    "stamp": Kind(
        Annotated[datetime, Stored("epoch_ms")],
        times,
        lambda w: of_milliseconds(only("N", w)),
        normal=to_the_millisecond,
    ),
    "tags": Kind(
        Annotated[set[str], AtMost(2)],
        st.frozensets(words, max_size=3),
        lambda w: frozenset(only("SS", w)),
        lambda value: len(value) <= 2,
        given=set,
        added=st.frozensets(words, min_size=1, max_size=2),
        is_set=True,
    ),
    "ids": Kind(
        set[int],
        st.frozensets(small, max_size=3),
        lambda w: frozenset(map(number, only("NS", w))),
        given=set,
        added=st.frozensets(small, min_size=1, max_size=2),
        is_set=True,
    ),
    "log": Kind(
        Annotated[list[str], AtMost(3)],
        st.lists(words, max_size=4),
        lambda w: [only("S", one) for one in only("L", w)],
        lambda value: len(value) <= 3,
        appended=st.lists(words, min_size=1, max_size=2),
    ),
    "counts": Kind(
        dict[str, int],
        st.dictionaries(words, small, max_size=2),
        lambda w: {name: number(only("N", one)) for name, one in only("M", w).items()},
    ),
}


@dataclass(frozen=True)
class Part:
    """One field of a model."""

    kind: Kind
    optional: bool
    default: Any = NOTHING
    forbidden: Any = NOTHING

    def fits(self, value: Any) -> bool:
        if value is None:
            return self.optional
        return self.kind.allows(value) and value != self.forbidden

    def normal(self, value: Any) -> Any:
        """What is there after a value was written."""
        if self.kind.is_set and not value:
            return None if self.optional else frozenset()
        return None if value is None else self.kind.normal(value)

    def given(self, value: Any) -> Any:
        return None if value is None else self.kind.given(value)

    def read(self, wire: Wire | None) -> Any:
        if wire is None or "NULL" in wire:
            assert self.optional or self.kind.is_set, "a field that must be there is not"
            return self.normal(None)
        return self.kind.read(wire)

    @property
    def any_value(self) -> st.SearchStrategy[Any]:
        return st.none() | self.kind.values if self.optional else self.kind.values


@dataclass(frozen=True)
class Shape:
    """The fields of a model and what its validators ask for."""

    parts: Mapping[str, Part]
    ordered: tuple[str, str] | None = None
    """The first number is not above the second."""
    together: tuple[str, str] | None = None
    """Both are there, or none of them is."""
    model: Any = field(default=None, compare=False)

    def fits(self, values: Values) -> bool:
        return all(part.fits(values[name]) for name, part in self.parts.items()) and self.agrees(
            values
        )

    def agrees(self, values: Mapping[str, Any]) -> bool:
        if self.ordered is not None:
            low, high = (values[name] for name in self.ordered)
            if low is not None and high is not None and low > high:
                return False
        if self.together is not None:
            one, other = (values[name] for name in self.together)
            return (one is None) == (other is None)
        return True

    def normal(self, values: Values) -> Values:
        return {name: part.normal(values[name]) for name, part in self.parts.items()}

    def read(self, item: Mapping[str, Wire]) -> Values:
        assert set(item) <= set(self.parts), "only what is declared stands there"
        return {name: part.read(item.get(name)) for name, part in self.parts.items()}

    def given(self, values: Values) -> Any:
        """An instance with these values, whether its validators like them or not."""
        return self.model.model_construct(
            **{name: part.given(values[name]) for name, part in self.parts.items()}
        )

    @property
    def any_values(self) -> st.SearchStrategy[Values]:
        return st.fixed_dictionaries({name: one.any_value for name, one in self.parts.items()})

    def annotations(self) -> dict[str, tuple[Any, Any]]:
        """The type and default of each field, as a class would have them."""
        found: dict[str, tuple[Any, Any]] = {}
        for name, part in self.parts.items():
            annotation = part.kind.annotation
            if part.forbidden is not NOTHING:
                forbids = AfterValidator(partial(_refuse, part))
                annotation = Annotated[annotation, forbids]
            default = ... if part.default is NOTHING else part.given(part.default)
            found[name] = (annotation | None if part.optional else annotation), default
        return found

    def validator(self) -> Any:
        def agree(item: Any) -> Any:
            if not self.agrees({name: getattr(item, name) for name in self.parts}):
                raise ValueError("the fields do not agree")
            return item

        return model_validator(mode="after")(agree)


def _refuse(part: Part, value: Any) -> Any:
    """A validator that forbids one value, whatever form it comes in."""
    if _plain(value) == part.forbidden:
        raise ValueError("this one is forbidden")
    return value


def _plain(value: Any) -> Any:
    """A value as the shapes have it: sets do not change, models are what they hold."""
    if isinstance(value, BaseModel):
        return {name: _plain(inner) for name, inner in value.__dict__.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    return frozenset(value) if isinstance(value, set) else value


def draw_shape(draw: Draw, *, depth: int = 0) -> Shape:
    """Some fields of any kinds; models inside them, two levels deep."""
    kinds = SCALARS | ({} if depth else COLLECTIONS)
    names = draw(st.lists(st.sampled_from(sorted(kinds)), min_size=1, max_size=5, unique=True))
    if not depth and draw(st.booleans()):
        # Numbers that are compared, so that two writers of one item can contradict each other.
        names = ["whole", "bounded", *(one for one in names if one not in ("whole", "bounded"))]
    chosen = {name: kinds[name] for name in names}
    if depth < 2 and draw(st.booleans()):
        inner = draw_shape(draw, depth=depth + 1)
        chosen |= draw(st.sampled_from([_one(inner), _several(inner), _named(inner)]))
    parts = {name: _draw_part(draw, kind) for name, kind in chosen.items()}
    numbers = [n for n in parts if n in ("whole", "bounded", "amount")]
    optional = [name for name, part in parts.items() if part.optional]
    shape = Shape(
        parts,
        (numbers[0], numbers[1]) if len(numbers) > 1 and draw(st.booleans()) else None,
        (optional[0], optional[1]) if len(optional) > 1 and draw(st.booleans()) else None,
    )
    if not depth:
        return shape
    made: Any = create_model(  # type: ignore[call-overload]
        f"Inner{depth}", __validators__={"agree": shape.validator()}, **shape.annotations()
    )
    return replace(shape, model=made)


def _draw_part(draw: Draw, kind: Kind) -> Part:
    optional = draw(st.booleans())
    forbidden = kind.normal(draw(kind.values)) if draw(st.integers(0, 3)) == 0 else NOTHING
    part = Part(kind, optional, forbidden=forbidden)
    if not draw(st.booleans()):
        return part
    # A field that may be None has None as its default, or none at all.
    default = None if optional else draw(kind.values)
    return replace(part, default=default) if part.fits(default) else part


def _one(inner: Shape) -> dict[str, Kind]:
    return {"inner": Kind(
        inner.model,
        inner.any_values,
        lambda w: inner.read(only("M", w)),
        inner.fits,
        inner.normal,
        inner.given,
    )}  # fmt: skip


def _several(inner: Shape) -> dict[str, Kind]:
    return {"inners": Kind(
        list[inner.model],  # type: ignore[name-defined]
        st.lists(inner.any_values, max_size=2),
        lambda w: [inner.read(only("M", one)) for one in only("L", w)],
        lambda value: all(map(inner.fits, value)),
        lambda value: list(map(inner.normal, value)),
        lambda value: list(map(inner.given, value)),
        appended=st.lists(inner.any_values, min_size=1, max_size=1),
    )}  # fmt: skip


def _named(inner: Shape) -> dict[str, Kind]:
    return {"named": Kind(
        dict[str, inner.model],  # type: ignore[name-defined]
        st.dictionaries(words, inner.any_values, max_size=2),
        lambda w: {name: inner.read(only("M", one)) for name, one in only("M", w).items()},
        lambda value: all(map(inner.fits, value.values())),
        lambda value: {name: inner.normal(one) for name, one in value.items()},
        lambda value: {name: inner.given(one) for name, one in value.items()},
    )}  # fmt: skip
