"""Processors: functions that a design runs for changes of an entity's items."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from typing import TYPE_CHECKING, Any, Literal, get_args

from keyfold.design import codes, flow
from keyfold.design.declaration import refuse
from keyfold.design.follows import SUPPORT_TABLE
from keyfold.design.source import Place

if TYPE_CHECKING:
    from keyfold.design.entity import Entity

ChangeKind = Literal["insert", "modify", "remove"]
KINDS: tuple[ChangeKind, ...] = get_args(ChangeKind)
_EVENTS: dict[str, Literal["INSERT", "MODIFY", "REMOVE"]] = {
    "insert": "INSERT",
    "modify": "MODIFY",
    "remove": "REMOVE",
}


@dataclass(frozen=True)
class Processor:
    """`function(old, new, delivery)` for some kinds of change of one entity."""

    name: str
    entity: type[Entity]
    kinds: frozenset[str]
    function: Callable[..., Any]
    seconds: float | None
    """The time limit in seconds; None uses the consumer's."""
    place: Place

    def __post_init__(self) -> None:
        unknown = self.kinds - set(KINDS)
        if unknown:
            refuse(
                codes.UNKNOWN_REFERENCE,
                f"the processor {self.name} has unknown changes: {', '.join(sorted(unknown))}.",
                f"Use one of {', '.join(KINDS)}.",
            )
        try:
            signature(self.function).bind("old", "new", "delivery")
        except TypeError:
            refuse(
                codes.MARKER_MISUSED,
                f"the processor {self.name} cannot be called with the item before, the item after "
                "and the delivery.",
                f"Write def {self.name}(old, new, delivery).",
            )

    def describe(self) -> flow.ConsumerSchema:
        return flow.ConsumerSchema(
            name=self.name,
            table=self.entity.__table__.name,
            entities=(self.entity.__name__,),
            events=tuple(_EVENTS[kind] for kind in KINDS if kind in self.kinds),
            dead_letter=SUPPORT_TABLE,
            description=(self.function.__doc__ or "").strip().partition("\n")[0],
            place=self.place,
        )
