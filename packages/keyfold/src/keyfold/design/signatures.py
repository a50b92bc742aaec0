"""Generated types of an entity: the signatures of its updates, keys and queries."""

from __future__ import annotations

from typing import ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
T_co = TypeVar("T_co", covariant=True)


class Changeable(Protocol[P, T_co]):
    """An entity, with the signature of its updates."""

    def __changes__(self, *args: P.args, **changes: P.kwargs) -> T_co: ...


class Writable(Protocol[P, T_co]):
    """An entity or address, with the signature of an update inside a transaction."""

    def __writes__(self, *args: P.args, **changes: P.kwargs) -> T_co: ...


class Movable(Protocol[P, T_co]):
    """An entity, with the signature of its moves."""

    def __moves__(self, *args: P.args, **changes: P.kwargs) -> T_co: ...


class Addresses(Protocol[P, T_co]):
    """The parameter types of a primary key."""

    def __call__(self, *args: P.args, **values: P.kwargs) -> T_co: ...


class Queries(Protocol[T_co]):
    """The parameter types of a key's queries."""

    @property
    def query(self) -> T_co: ...


class Untyped:
    """Stands for a key without generated types; accepts anything."""
