"""Intents: what a caller wants written, before it is known which requests that takes.

An intent's `refuse` is the error that its caller gets when its condition fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, Protocol, TypeAlias

from typing_extensions import TypeVar

from keyfold.design.address import Ref
from keyfold.design.condition import Condition
from keyfold.design.entity import Entity
from keyfold.errors import PlanError
from keyfold.runtime.changes import Change
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Flow

T_co = TypeVar("T_co", covariant=True, default=Any)
E = TypeVar("E", bound=Entity, default=Any)


class Write(Generic[T_co]):
    """An intent to write; T is the type of its result."""


@dataclass(frozen=True)
class Put(Write[E], Generic[E]):
    """Write a whole item. `absent` makes it a create, which never overwrites.

    `unless_raced` marks a put that found nothing to replace: if it meets an item, the commit
    restarts. `counted` marks an item that exists only because something is counted on it; others
    may not rely on it. `carried` are undeclared attributes taken from the item's former key.
    `moved` marks an item that existed under another key, so it is not new.
    """

    new: E
    absent: bool = True
    condition: Condition | None = None
    unless_raced: bool = False
    counted: bool = False
    moved: bool = False
    carried: Mapping[str, Any] = field(default_factory=dict, hash=False)
    refuse: Exception | None = field(default=None, compare=False)


IfMissing: TypeAlias = Literal["refuse", "skip", "create"] | Callable[[], Entity]
"""What an update does where there is no item; a function makes the whole item."""


@dataclass(frozen=True)
class Update(Write[T_co], Generic[T_co]):
    """Change one item.

    `given` is the item as the caller saw it. `counting` marks a maintainer's adjustment, which
    leaves version and timestamps alone, except the field that it `stamps`. If a `steady` field
    moved since planning, the commit restarts.
    """

    ref: Ref[Any]
    changes: Mapping[str, Change]
    condition: Condition | None = None
    given: Entity | None = None
    counting: bool = False
    if_missing: IfMissing = "refuse"
    steady: frozenset[str] = frozenset()
    stamps: str = ""
    expected_version: int | None = None
    refuse: Exception | None = field(default=None, compare=False)

    @property
    def read_before(self) -> Entity | None:
        """The item as the caller saw it, where its version guards it."""
        return None if self.ref.entity.__spec__.version is None else self.given


@dataclass(frozen=True)
class Delete(Write[T_co], Generic[T_co]):
    """Delete one item; `must_exist` fails if there is none, `returning` returns the old item.

    `carried` are undeclared attributes that move elsewhere; they must be unchanged.
    """

    ref: Ref[Any]
    condition: Condition | None = None
    read_before: Entity | None = None
    must_exist: bool = False
    returning: bool = False
    carried: Mapping[str, Any] = field(default_factory=dict, hash=False)
    refuse: Exception | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Check(Write[None]):
    """A condition on an item that is not written; `lasting`: the item must still exist after
    the commit.
    """

    ref: Ref[Any]
    condition: Condition | None = None
    lasting: bool = False
    refuse: Exception | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Marker(Write[None]):
    """A support item outside the entities: the holder of a unique value, a processed record."""

    table: Any
    action: Literal["Put", "Delete", "ConditionCheck", "Update"]
    request: Mapping[str, Any] = field(hash=False)
    refusal: Callable[[Mapping[str, Any] | None], Exception] | None = None


Pending: TypeAlias = Callable[[type[Entity]], Iterable[tuple[Ref[Any], Entity | None]]]
"""The items of an entity that a commit writes, in their new state; None for deleted ones."""


@dataclass(frozen=True)
class Derived(Write[None]):
    """Changes of an item computed from its state and the rest of the commit.

    The plan reads the item. If one of the `steady` fields moved meanwhile, the commit restarts. A
    deleted item gets no changes.
    """

    ref: Ref[Any]
    changes: Callable[[Any, Pending], Flow[Mapping[str, Change]]]
    steady: frozenset[str]


Intent: TypeAlias = Put | Update | Delete | Check | Marker | Derived
"""One write that was asked for, or that follows from one."""


def commit_label(intents: Sequence[Intent]) -> str:
    """The label for a commit in metrics: `create Order`, or `write` for several."""
    for intent in intents:
        if not isinstance(intent, Put | Update | Delete | Check | Marker):
            raise PlanError(
                f"{intent!r} is not a write; give create(...), put(...), update(...), delete(...) "
                "or check(...), one by one"
            )
    words = {_label(one) for one in intents if isinstance(one, Put | Update | Delete)}
    return words.pop() if len(words) == 1 else "write"


def _label(intent: Put | Update | Delete) -> str:
    if isinstance(intent, Put):
        return f"{'create' if intent.absent else 'put'} {type(intent.new).__name__}"
    verb = "update" if isinstance(intent, Update) else "delete"
    return f"{verb} {intent.ref.entity.__name__}"


class Maintainer(Protocol):
    """Maintains something that is derived from the items of one entity.

    A structure states what must hold because of an item; a job is work over many items.
    """

    kind: str
    """For messages only."""
    label: str
    """Its name, stable across versions of the program."""
    source: type[Entity]
    sync: Literal["transaction", "stream"]
    overflow: Literal["refuse", "stream"]
    """Whether the stream takes over where one transaction is too small."""

    @property
    def owner(self) -> str:
        """The label of its declaration."""
        ...

    @property
    def fields(self) -> frozenset[str]:
        """The fields of the source whose change concerns it."""
        ...

    def joins(
        self, context: Context, old: Entity | None, new: Entity | None
    ) -> Flow[Iterable[Intent]]:
        """The writes that join the transaction of a change."""
        ...

    def afterwards(self, context: Context, gone: Entity) -> Flow[None] | None:
        """What to check after the transaction that deleted an item."""
        ...

    def steady(self, touched: frozenset[str] | None) -> frozenset[str]:
        """Counted fields that must not move while these fields change; None means a delete."""
        ...
