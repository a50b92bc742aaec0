"""Markers that a field can have in `Annotated`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, get_args

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from keyfold.design import codes
from keyfold.design.declaration import refuse
from keyfold.design.field_codec import FORMS, READABLE, Codec
from keyfold.design.schema import OtherForm

if TYPE_CHECKING:
    from keyfold.design.entity import Entity


TimeFormat = Literal["iso", "iso_ms", "iso_s", "iso_offset", "epoch", "epoch_ms"]


class FieldMarker:
    """A marker in a field's `Annotated`; anywhere else it has no effect and is refused."""

    __slots__ = ()

    kept: ClassVar[bool] = False
    """Only a maintainer writes the field."""
    spreads: ClassVar[bool] = False
    """The field is a part of a key that spreads one partition over several."""

    def _demand(self, holds: bool, suggestion: str) -> None:
        if not holds:
            refuse(codes.MARKER_MISUSED, f"{self} is not valid.", suggestion)


class StructureMarker(FieldMarker, ABC):
    """A marker that adds something to the design: a counter, a copy, a vector index."""

    __slots__ = ()

    @abstractmethod
    def attach_field(self, entity: type[Entity], field: str) -> None:
        """Called once per marked field, when the entity is registered."""


class CountMarker(StructureMarker):
    """A marker of a number that moves by amounts while others edit the item."""

    kept = True
    shards: int
    """The number of items it is spread over."""


@dataclass(frozen=True, slots=True)
class RefersTo(StructureMarker):
    """The entity whose id the field holds, or whose ids; `user_id` refers to User by its name."""

    entity: str

    def __post_init__(self) -> None:
        named = isinstance(self.entity, str) and bool(self.entity)
        self._demand(named, 'Give the entity\'s name, as RefersTo("User").')

    def attach_field(self, entity: type[Entity], field: str) -> None:  # noqa: ARG002
        design = entity.__table__.design
        design.when_complete(lambda: design.entities[self.entity])


@dataclass(frozen=True, slots=True)
class Version(FieldMarker):
    """The optimistic lock: counts an item's writes; a stale writer is refused."""


@dataclass(frozen=True, slots=True)
class Created(FieldMarker):
    """Set to the current time when the item is created."""


@dataclass(frozen=True, slots=True)
class Updated(FieldMarker):
    """Set to the current time by every write."""


@dataclass(frozen=True, slots=True)
class Ttl(FieldMarker):
    """When an item expires, stored in epoch seconds.

    With `days` it is computed: that long after the field `after`, or after the write.
    """

    days: float | None = None
    after: str = ""

    def __post_init__(self) -> None:
        self._demand(self.days is None or self.days > 0, "Give more than 0 days.")


@dataclass(frozen=True, slots=True)
class Name(FieldMarker):
    """The attribute's name on disk."""

    attribute: str

    def __post_init__(self) -> None:
        named = isinstance(self.attribute, str) and bool(self.attribute)
        self._demand(named, 'Give the attribute\'s name, as Name("isPublic").')


@dataclass(frozen=True, slots=True)
class Stored(FieldMarker):
    """How a field is stored: the format of a time, or a codec for any other type.

    A time is a number in epoch formats, otherwise ISO text of fixed width.
    """

    format: TimeFormat | Codec[Any, Any]

    def __post_init__(self) -> None:
        known = get_args(TimeFormat)
        self._demand(
            isinstance(self.format, Codec) or self.format in known,
            f"Give a Codec, or a time's format: {', '.join(known)}.",
        )


@dataclass(frozen=True, slots=True)
class ReadsAlso(FieldMarker):
    """Items may store the field in another type, or a time in another format, as well.

    They are read, and written as declared: `ReadsAlso(str)` on an `int`.
    """

    stored: type | TimeFormat

    def __post_init__(self) -> None:
        known = (*READABLE, *get_args(TimeFormat))
        names = ", ".join(getattr(one, "__name__", one) for one in known)
        self._demand(self.stored in known, f"Give one of: {names}.")

    @property
    def form(self) -> OtherForm:
        """What it reads, as in design files."""
        return self.stored if isinstance(self.stored, str) else FORMS[self.stored]


@dataclass(frozen=True, slots=True)
class AtMost(FieldMarker):
    """The maximum number of elements of a list or set, so that the item stays below 400 KB."""

    items: int

    def __post_init__(self) -> None:
        whole = isinstance(self.items, int) and self.items >= 1
        self._demand(whole, "Give a whole number of at least 1.")


@dataclass(frozen=True, slots=True)
class Normalised(FieldMarker):
    """Applied to the value before it is stored, so that lookups use one spelling."""

    function: Callable[[str], str]

    def __post_init__(self) -> None:
        self._demand(callable(self.function), "Give a function of text, as str.casefold.")


@dataclass(frozen=True, slots=True)
class Fixed(FieldMarker):
    """Set when the item is created, and never changed."""


@dataclass(frozen=True, slots=True)
class Unversioned(FieldMarker):
    """A change of only such fields keeps the version and the time of the last write."""


@dataclass(frozen=True, slots=True)
class From(FieldMarker):
    """In a pointer: the canonical's field that this one copies."""

    field: str


@dataclass(frozen=True, slots=True)
class InKey(FieldMarker):
    """The field is stored only in a key, as in existing tables: it has no attribute of its own."""


@dataclass(frozen=True, slots=True)
class Transient(FieldMarker):
    """Computed, never stored."""


def _aware(value: datetime) -> datetime:
    if value.tzinfo is UTC:
        return value
    if value.tzinfo is None:
        raise PydanticCustomError(
            "timezone_aware", "a timestamp needs a time zone, as datetime.now(UTC)"
        )
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise ValueError("must be in the years 1 to 9999 of UTC") from None


Id = Annotated[str, "id"]
"""A text field that identifies an item."""

Timestamp = Annotated[datetime, AfterValidator(_aware)]
"""A time with a time zone."""
