"""Addresses of items, and the entity keys that reads start from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, ParamSpec

from typing_extensions import TypeVar

from keyfold.design.signatures import Changeable
from keyfold.errors import MissingKeyField, PlanError

if TYPE_CHECKING:
    from keyfold.design.entity import Entity
    from keyfold.design.keys import Key
    from keyfold.design.query import OpenQuery
    from keyfold.design.table_schema import TableSchema

E = TypeVar("E", bound="Entity")
P = ParamSpec("P")
T = TypeVar("T")
R_co = TypeVar("R_co", covariant=True)


@dataclass(frozen=True)
class Ref(Generic[R_co]):
    """The address of one item: `Hangout.key(hangout_id="h1")`."""

    entity: type[R_co]
    values: Mapping[str, Any]

    if TYPE_CHECKING:
        # An update by address in a larger transaction returns no item: nothing was read.
        def __writes__(
            self: Ref[Changeable[P, T]], *args: P.args, **changes: P.kwargs
        ) -> T | None: ...

    def wire(self) -> dict[str, Any]:
        return dict(self._rendered)

    @property
    def spread(self) -> str:
        """The field that stands for several items through `each(...)`, or ""."""
        found = (name for name, value in self.values.items() if type(value).__name__ == "Each")
        return next(found, "")

    def refuse_several(self) -> None:
        if self.spread:
            raise PlanError(
                f"{self.entity.__name__}.key: {self.spread}=each(...) stands for several items; "
                "use get_many"
            )

    @cached_property
    def address(self) -> tuple[str, str]:
        schema: TableSchema = self.entity.__table__.schema  # type: ignore[attr-defined]
        return schema.address(self.wire())

    @cached_property
    def _rendered(self) -> dict[str, Any]:
        for value in self.values.values():
            if type(value).__name__ == "Each":
                self.refuse_several()
        key: Key[Any] = self.entity.__spec__.key  # type: ignore[attr-defined]
        return key.render(self.values)

    def __str__(self) -> str:
        given = ", ".join(f"{k}={v!r}" for k, v in self.values.items())
        return f"{self.entity.__name__}({given})"


def checked_ref(given: Ref[E]) -> Ref[E]:
    """The argument, checked to be an address."""
    if isinstance(given, Ref):
        return given
    raise PlanError(f"{given!r} is not an item address; use Order.key(order_id='1') or order.ref()")


@dataclass(frozen=True)
class KeyOf(Generic[E]):
    """A key of an entity, the starting point of reads."""

    entity: type[E]
    declared: Key[Any]


@dataclass(frozen=True)
class OpenKey(KeyOf[E]):
    """A key of an entity without generated types."""

    def __call__(self, **values: Any) -> Ref[E]:
        """The address of one item; takes every field of the key."""
        if self.declared.index is not None:
            raise PlanError(
                f"{self.entity.__name__}.{self.declared.name} is on the index "
                f"{self.declared.index}; address an item by its primary key"
            )
        wanted = set(self.declared.address)
        if set(values) != wanted:
            needed = ", ".join(sorted(wanted)) or "no fields"
            raise MissingKeyField(
                f"{self.entity.__name__}.{self.declared.name} is made of {needed}; "
                f"got {', '.join(sorted(values)) or 'none'}"
            )
        return Ref(self.entity, values)

    def query(self, **values: Any) -> OpenQuery[E]:
        """All items with these key fields: the whole partition key and leading sort fields."""
        from keyfold.design.query import start_query

        return start_query(self, values)
