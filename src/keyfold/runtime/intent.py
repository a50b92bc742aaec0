"""What somebody wants written, before it is known which requests that takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, Protocol, TypeAlias

from typing_extensions import TypeVar

from keyfold.design.address import Ref
from keyfold.design.entity import Entity
from keyfold.design.predicate import Predicate
from keyfold.errors import PlanError
from keyfold.runtime.changes import Change
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Flow

T_co = TypeVar("T_co", covariant=True, default=Any)
E = TypeVar("E", bound=Entity, default=Any)


class Write(Generic[T_co]):
    """Something to be written; T is what writing it gives."""


@dataclass(frozen=True)
class Put(Write[E], Generic[E]):
    """A whole item. `absent` makes it a create: it never overwrites.

    `unless_raced` marks a put that found nothing to replace: meeting an item now, it starts over.
    `counted` marks an item that only a count on it makes: nobody may rely on it being there.
    `carried` are attributes that the design does not declare, from where the item was before.
    `moved` marks an item that was there under another key: it does not begin now.
    """

    new: E
    absent: bool = True
    condition: Predicate | None = None
    unless_raced: bool = False
    counted: bool = False
    moved: bool = False
    carried: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Update(Write[T_co], Generic[T_co]):
    """Changes to one item.

    `given` is the item as the caller saw it, and `known` the same where its version guards it.
    `counting` marks a maintainer's own adjustment, which is no edit: it leaves version and stamps
    alone. `upsert` lets it create the item; without it a missing item is an error, or, where
    `lenient`, nothing, or, where `otherwise` gives it, the whole item. `steady` fields must be
    what they were when it was planned, or the commit starts over.
    """

    ref: Ref[Any]
    changes: Mapping[str, Change]
    condition: Predicate | None = None
    known: Entity | None = None
    counting: bool = False
    upsert: bool = False
    lenient: bool = False
    given: Entity | None = None
    steady: frozenset[str] = frozenset()
    otherwise: Callable[[], Entity] | None = None


@dataclass(frozen=True)
class Delete(Write[T_co], Generic[T_co]):
    """One item gone; `must_exist` refuses to delete nothing, `returning` gives what it was.

    `carried` are its undeclared attributes that go elsewhere, and must be the same still.
    """

    ref: Ref[Any]
    condition: Predicate | None = None
    known: Entity | None = None
    must_exist: bool = False
    returning: bool = False
    carried: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Check(Write[None]):
    """A condition on an item that is not written; `lasting`: it is there afterwards, too."""

    ref: Ref[Any]
    condition: Predicate | None = None
    lasting: bool = False


@dataclass(frozen=True)
class Marker(Write[None]):
    """A support item outside the entities: a unique value's holder, a processed record."""

    table: Any
    action: Literal["Put", "Delete", "ConditionCheck", "Update"]
    request: Mapping[str, Any] = field(hash=False)
    refusal: Callable[[Mapping[str, Any] | None], Exception] | None = None


Pending: TypeAlias = Callable[[type[Entity]], Iterable[tuple[Ref[Any], Entity | None]]]
"""Items of an entity that a commit writes, as they will be; None for what it deletes."""


@dataclass(frozen=True)
class Derived(Write[None]):
    """Changes of an item that follow from what it is and from the rest of the commit.

    The plan reads it; where one of the `steady` fields moved meanwhile, the commit starts over. An
    item that is gone has nothing derived.
    """

    ref: Ref[Any]
    changes: Callable[[Any, Pending], Flow[Mapping[str, Change]]]
    steady: frozenset[str]


Intent: TypeAlias = Put | Update | Delete | Check | Marker | Derived


def commit_label(intents: Sequence[Intent]) -> str:
    """The words that metrics count a commit under: `create Order`, or `write` for several."""
    for intent in intents:
        if not isinstance(intent, Put | Update | Delete | Check | Marker):
            raise PlanError(
                f"{intent!r} is not a write; give create(...), put(...), update(...), delete(...) "
                "or check(...), one by one"
            )
    words = {_words(one) for one in intents if isinstance(one, Put | Update | Delete)}
    return words.pop() if len(words) == 1 else "write"


def _words(intent: Put | Update | Delete) -> str:
    if isinstance(intent, Put):
        return f"{'create' if intent.absent else 'put'} {type(intent.new).__name__}"
    verb = "update" if isinstance(intent, Update) else "delete"
    return f"{verb} {intent.ref.entity.__name__}"


class Maintainer(Protocol):
    """Keeps something right that follows from items of one entity.

    A structure is what must hold because of an item; a job is work over many items.
    """

    kind: str
    """For words only."""
    label: str
    """Its name, stable across versions of the program."""
    source: type[Entity]
    sync: Literal["transaction", "stream"]
    overflow: Literal["refuse", "stream"]
    """Whether the stream does the work where one transaction cannot hold it."""

    @property
    def owner(self) -> str:
        """The label of its declaration."""
        ...

    @property
    def fields(self) -> frozenset[str]:
        """The source's fields whose change concerns it."""
        ...

    def joins(
        self, context: Context, old: Entity | None, new: Entity | None
    ) -> Flow[Iterable[Intent]]:
        """What joins the transaction of a change."""
        ...

    def afterwards(self, context: Context, gone: Entity) -> Flow[None] | None:
        """What is to be looked at when the transaction that deleted an item is done."""
        ...

    def steady(self, touched: frozenset[str] | None) -> frozenset[str]:
        """Counted fields that must not move while these are changed; None is a delete."""
        ...
