"""What written types say of an entity: the signatures of its updates, keys and queries."""

from __future__ import annotations

from typing import ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
T_co = TypeVar("T_co", covariant=True)


class Changeable(Protocol[P, T_co]):
    """An entity, by the signature of its updates."""

    def __changes__(self, *args: P.args, **changes: P.kwargs) -> T_co: ...


class Writable(Protocol[P, T_co]):
    """An entity or an address, by the signature of an update that is one of several writes."""

    def __writes__(self, *args: P.args, **changes: P.kwargs) -> T_co: ...


class Movable(Protocol[P, T_co]):
    """An entity, by the signature of its moves."""

    def __moves__(self, *args: P.args, **changes: P.kwargs) -> T_co: ...


class Addresses(Protocol[P, T_co]):
    """The types of a primary key: what it is called with."""

    def __call__(self, *args: P.args, **values: P.kwargs) -> T_co: ...


class Queries(Protocol[T_co]):
    """The types of a key: what is asked of it."""

    @property
    def query(self) -> T_co: ...


class Untyped:
    """Stands where nobody wrote down the types of a key; anything may be given."""
