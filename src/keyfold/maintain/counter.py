"""Counters: numbers kept equal to a count or a sum over another entity's items."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any, Literal

from keyfold.design import codes, condition, schema
from keyfold.design.entity import Entity
from keyfold.design.follows import Follows
from keyfold.design.keys import Ref
from keyfold.design.place import caller
from keyfold.design.predicate import Predicate
from keyfold.design.recorder import declare
from keyfold.errors import DeclarationError
from keyfold.maintain.fact import AmountFact
from keyfold.maintain.shards import shard_entity
from keyfold.maintain.structure import KeptStructure

Amount = int | Decimal
_HOLDS = {
    "integer": ("integer", "decimal", "float"),
    "decimal": ("decimal",),
    "float": ("float",),
}
"""The kinds of numbers that hold a sum exactly, or as exactly as its parts are."""


class Counter:
    """Marks a number field: `going: Annotated[int, Counter("Rsvp", where=...)] = 0`.

    `of` is the counted entity. The field's entity is found by its key fields on the counted item,
    under other names where `via` says so. `creates` makes the holding item on the first count.
    `shards` spreads a hot counter over so many items of its own; `total` adds them up. The number
    of shards may grow, never shrink.
    """

    kind = "counter"

    def __init__(
        self,
        of: str,
        *,
        where: Callable[[Any], object] | None = None,
        sums: str = "",
        via: Mapping[str, str] | None = None,
        sync: Literal["transaction", "stream"] = "transaction",
        creates: bool = False,
        shards: int = 1,
    ) -> None:
        if shards < 1:
            raise DeclarationError(
                codes.MARKER_MISUSED,
                f"a counter cannot have {shards} shards.",
                place=str(caller()),
                suggestion="Give it one or more.",
            )
        self.of, self.where, self.sums, self.sync = of, where, sums, sync
        self.via = dict(via or {})
        self.creates, self.shards = creates, shards
        self.place = caller()

    def attach_field(self, entity: type[Entity], field: str) -> None:
        design = entity.__table__.design
        if self.shards > 1:
            shard_entity(entity.__table__)
        design.when_complete(lambda: design.maintain(CounterMaintainer(self, entity, field)))


class CounterMaintainer(KeptStructure):
    """What changes about one counter when a counted item changes."""

    kind = "counter"
    additive = True

    def __init__(self, declared: Counter, target: type[Entity], field: str) -> None:
        self.declared, self.target, self.field = declared, target, field
        self.label = f"counter {target.__name__}.{field}"
        self.source = target.__table__.design.entity(
            declared.of, place=f"{declared.place} {self.label}"
        )
        self.sync = declared.sync
        names = self.source.__spec__.fields
        wanted = target.__spec__.key.templates.fields
        self.via = {name: declared.via.get(name, name) for name in wanted}
        for name in (*self.via.values(), *((declared.sums,) if declared.sums else ())):
            if name not in names:
                raise DeclarationError(
                    codes.UNKNOWN_REFERENCE,
                    f"the counter {target.__name__}.{field} needs the field {name!r}, which "
                    f"{self.source.__name__} does not have.",
                    place=str(declared.place),
                    suggestion="Say with via={...} which of its fields holds the key.",
                )
        kind = target.__spec__.fields[field].kind
        summed = names[declared.sums].kind if declared.sums else "integer"
        if kind not in _HOLDS.get(summed, ()):
            raise DeclarationError(
                codes.MARKER_MISUSED,
                f"the counter {target.__name__}.{field} is of kind {kind}, and cannot hold a sum "
                f"of {summed} values.",
                place=str(declared.place),
                suggestion="Declare it as int for counts and whole numbers, as Decimal for others.",
            )
        self.condition: Predicate | None = (
            declare(declared.where, self.source, place=f"{declared.place} {self.label}")
            if declared.where is not None
            else None
        )

    @property
    def fields(self) -> frozenset[str]:
        tested = self.condition.fields if self.condition is not None else frozenset()
        summed = {self.declared.sums} if self.declared.sums else set()
        return frozenset(self.via.values()) | tested | summed

    def amount(self, item: Entity) -> Amount:
        """What one item adds to the counter."""
        if self.condition is not None and not self.condition.holds(item.__dict__):
            return 0
        if not self.declared.sums:
            return 1
        value: Amount | None = getattr(item, self.declared.sums)
        return value or 0

    def holder(self, item: Entity) -> Ref[Any] | None:
        """The item that holds the counter for a counted one."""
        values = {name: getattr(item, theirs) for name, theirs in self.via.items()}
        return None if None in values.values() else Ref(self.target, values)

    def facts(self, item: Entity) -> Iterator[AmountFact]:
        holder = self.holder(item)
        if holder is not None:
            creates, shards = self.declared.creates, self.declared.shards
            yield AmountFact(holder, self.field, self.amount(item), creates, shards)

    @property
    def follows(self) -> Follows:
        spec, declared = self.source.__spec__, self.declared
        return Follows(
            name=self.label,
            kind=self.kind,
            source=spec.name,
            target=self.target.__name__,
            fact="amount",
            fields=tuple(sorted(self.fields)),
            writes=(self.field,),
            adds=(self.field,),
            via=tuple(self.via.items()),
            when=None if self.condition is None else condition.tree(self.condition, spec),
            sums=declared.sums,
            creates=declared.creates,
            shards=declared.shards,
            sync=self.sync,
            expires=spec.ttl is not None,
            place=declared.place,
        )

    def describe(self) -> schema.CounterSchema:
        return schema.CounterSchema(
            name=f"{self.target.__name__}.{self.field}",
            counts=self.source.__name__,
            target=self.target.__name__,
            attribute=self.field,
            via=tuple(self.via.values()),
            creates=self.declared.creates,
            where=self.follows.when,
            sums=self.declared.sums,
            sync=self.sync,
            shards=self.declared.shards,
            place=self.declared.place,
        )
