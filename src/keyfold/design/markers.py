"""What a field can say about itself, in `Annotated`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Literal, get_args

from pydantic import AfterValidator

from keyfold.design import codes
from keyfold.design.place import caller
from keyfold.errors import DeclarationError

if TYPE_CHECKING:
    from keyfold.design.entity import Entity


TimeFormat = Literal["iso", "iso_ms", "iso_s", "iso_offset", "epoch", "epoch_ms"]


class FieldMarker:
    """What a field says in its `Annotated`; anywhere else it does nothing, and is refused."""

    __slots__ = ()

    def _demand(self, holds: bool, suggestion: str) -> None:
        if not holds:
            raise DeclarationError(
                codes.MARKER_MISUSED,
                f"{self} cannot work.",
                place=str(caller()),
                suggestion=suggestion,
            )


class StructureMarker(FieldMarker, ABC):
    """A marker that makes something of the design: a counter, a copy, a vector index."""

    __slots__ = ()

    @abstractmethod
    def attach_field(self, entity: type[Entity], field: str) -> None:
        """Called once for each marked field, when the entity is registered."""


@dataclass(frozen=True, slots=True)
class Version(FieldMarker):
    """The optimistic lock: counts the writes of an item; a stale writer is refused."""


@dataclass(frozen=True, slots=True)
class Created(FieldMarker):
    """Set to the current time when the item is created."""


@dataclass(frozen=True, slots=True)
class Updated(FieldMarker):
    """Set to the current time by every write."""


@dataclass(frozen=True, slots=True)
class Ttl(FieldMarker):
    """The moment an item expires, stored in epoch seconds.

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
    """A time's format on disk; numbers in epoch formats, otherwise fixed ISO text."""

    format: TimeFormat

    def __post_init__(self) -> None:
        known = get_args(TimeFormat)
        self._demand(self.format in known, f"Formats are: {', '.join(known)}.")


@dataclass(frozen=True, slots=True)
class AtMost(FieldMarker):
    """How many elements a list or set may hold, so that the item cannot grow to 400 KB."""

    items: int

    def __post_init__(self) -> None:
        whole = isinstance(self.items, int) and self.items >= 1
        self._demand(whole, "Give a whole number of at least 1.")


@dataclass(frozen=True, slots=True)
class Normalised(FieldMarker):
    """Applied to the value before it is stored, so that lookups meet one spelling."""

    function: Callable[[str], str]

    def __post_init__(self) -> None:
        self._demand(callable(self.function), "Give a function of text, as str.casefold.")


@dataclass(frozen=True, slots=True)
class Fixed(FieldMarker):
    """Set when the item is created, and never changed."""


@dataclass(frozen=True, slots=True)
class Unversioned(FieldMarker):
    """A change of such fields alone is no edit: version and time of the last write stay."""


@dataclass(frozen=True, slots=True)
class From(FieldMarker):
    """In a pointer: the field is a copy of the canonical's field of this name."""

    field: str


@dataclass(frozen=True, slots=True)
class InKey(FieldMarker):
    """The field stands only in a key, as in tables that others made: it has no attribute."""


@dataclass(frozen=True, slots=True)
class Transient(FieldMarker):
    """Computed, never stored."""


def _aware(value: datetime) -> datetime:
    if value.tzinfo is UTC:
        return value
    if value.tzinfo is None:
        raise ValueError("a timestamp needs a time zone, as datetime.now(UTC)")
    return value.astimezone(UTC)


Id = Annotated[str, "id"]
Timestamp = Annotated[datetime, AfterValidator(_aware)]
