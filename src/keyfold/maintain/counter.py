"""Counters: numbers kept equal to a count or a sum over another entity's items."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any, Literal

from keyfold.design import codes, condition
from keyfold.design.address import Ref
from keyfold.design.entity import Entity
from keyfold.design.follows import Follows
from keyfold.design.markers import StructureMarker
from keyfold.design.place import caller
from keyfold.design.predicate import FieldComparison, FieldPath, Predicate, Test
from keyfold.design.recorder import declare
from keyfold.errors import (
    ConditionFailed,
    DeclarationError,
    PlanError,
    Undecodable,
    VersionConflict,
)
from keyfold.maintain.address import fetch, raw
from keyfold.maintain.drift import Drift
from keyfold.maintain.fact import AmountFact
from keyfold.maintain.recount import ATTEMPTS, CountedItems
from keyfold.maintain.relation import Related
from keyfold.maintain.rows import FactComparison, Suspect
from keyfold.maintain.shards import AMOUNT, holder_text, shard_entity, total
from keyfold.maintain.structure import Causes, Reconciled, Shown, SummedStructure
from keyfold.runtime.changes import Add
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Flow
from keyfold.runtime.intent import Update
from keyfold.runtime.walk import again_after
from keyfold.runtime.writes import commit

Amount = int | Decimal
_HOLDS = {
    "integer": ("integer", "decimal", "float"),
    "decimal": ("decimal",),
    "float": ("float",),
}
"""The kinds of numbers that hold a sum exactly, or as exactly as its parts are."""


class Counter(StructureMarker):
    """Marks a number field: `going: Annotated[int, Counter("Rsvp", where=...)] = 0`.

    `of` is the counted entity. The field's entity is found by its key fields on the counted item,
    under other names where `via` says so. `creates` makes the holding item on the first count.
    `shards` spreads a hot counter over that number of items; `total` adds them up. The number
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
        if not isinstance(shards, int) or shards < 1:
            raise DeclarationError(
                codes.MARKER_MISUSED,
                f"shards must be at least 1, not {shards!r}.",
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


class CounterMaintainer(SummedStructure):
    """What changes about one counter when a counted item changes."""

    kind = "counter"

    def __init__(self, declared: Counter, target: type[Entity], field: str) -> None:
        self.declared, self.target, self.field = declared, target, field
        self.label = f"counter {target.__name__}.{field}"
        self.source = target.__table__.design.entity(
            declared.of, place=f"{declared.place} {self.label}"
        )
        self.sync = declared.sync
        # Where the holder is gone, its number is gone with it.
        missing = declared.creates or declared.shards > 1
        self.compared = FactComparison(adds=True, missing=missing)
        names = self.source.__spec__.fields
        wanted = target.__spec__.key.address
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
        self._check_declaration(wanted)
        self.condition: Predicate | None = (
            declare(declared.where, self.source, place=f"{declared.place} {self.label}")
            if declared.where is not None
            else None
        )
        counted = self.source.__spec__
        self.when = None if self.condition is None else condition.tree(self.condition, counted)
        self._holds = None if self.when is None else condition.evaluator(self.when, counted)
        self.items = self._counted_items()
        """Where one consistent query finds all that a holder counts."""

    def _check_declaration(self, key: Iterable[str]) -> None:
        info = self.target.model_fields[self.field]
        if info.is_required() or info.default not in (0, None):
            raise DeclarationError(
                codes.MARKER_MISUSED,
                f"the {self.label} has "
                + ("no default." if info.is_required() else f"the default {info.default!r}.")
                + " A new item has counted nothing, and nobody gives it a number.",
                place=str(self.declared.place),
                suggestion="Give it the default 0.",
            )
        unknown = [name for name in self.declared.via if name not in key]
        if unknown:
            raise DeclarationError(
                codes.UNKNOWN_REFERENCE,
                f"the {self.label} says via={{{unknown[0]!r}: ...}}, and {unknown[0]} is not in "
                f"the key of {self.target.__name__}.",
                place=str(self.declared.place),
                suggestion=f"Its key is made of: {', '.join(key)}.",
            )

    def _counted_items(self) -> CountedItems | None:
        if self.sync == "stream" or self.declared.shards > 1:
            return None
        partition = self.source.__spec__.key.templates.partition.fields
        if not set(partition) <= set(self.via.values()):
            return None
        related = Related(
            self.target,
            self.source,
            "key",
            self.via,
            owner=f"the {self.label}",
            place=self.declared.place,
        )
        return CountedItems(related, self.field, self.amount)

    @property
    def fields(self) -> frozenset[str]:
        tested = self.condition.fields if self.condition is not None else frozenset()
        summed = {self.declared.sums} if self.declared.sums else set()
        return frozenset(self.via.values()) | tested | summed

    def amount(self, item: Entity) -> Amount:
        """What one item adds to the counter."""
        if self._holds is not None and not self._holds(item.__dict__):
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
    def carrier(self) -> type[Entity] | None:
        return self.target if self.sync == "stream" and self.declared.shards == 1 else None

    def carry_over(self, gone: Entity) -> Iterator[Update]:
        """A holder that was made again begins with nothing, and the records of what was counted
        before come late: with what its predecessor had counted, they lead to the right number."""
        number = getattr(gone, self.field)
        if number:
            yield Update(gone.ref(), {self.field: Add(number)}, counting=True, lenient=True)

    @property
    def recounts(self) -> bool:
        return self.items is not None

    def recount(self, context: Context, holder: Ref[Any], related: Related) -> Flow[None]:
        """Bring the number to these items, whoever counts meanwhile."""
        items = CountedItems(related, self.field, self.amount)
        for attempt in range(ATTEMPTS):
            found = yield from items.recount(context, holder)
            if found is None:
                break
            missing = self._amount(found.wanted - found.number)
            if not missing:
                return
            held = self._holds_number(self._amount(found.number))
            change = {self.field: Add(missing)}
            try:
                yield from commit(context, [Update(holder, change, held, counting=True)])
                return
            except ConditionFailed:
                # Another repair would add the same: so the number has to be what was met.
                yield again_after(attempt)
        raise VersionConflict(f"{self.label} of {holder} moves faster than its items are counted")

    def _holds_number(self, number: Any) -> Predicate:
        """The condition that the field is this; where it was never written, it is 0."""
        path = FieldPath((self.field,))
        same: Predicate = FieldComparison(path, "=", number)
        return same if number else same | Test("missing", path)

    def _amount(self, number: Decimal) -> Any:
        kind = self.target.__spec__.fields[self.field].kind
        return {"integer": int, "float": float}.get(kind, Decimal)(number)

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
            when=self.when,
            sums=declared.sums,
            creates=declared.creates,
            shards=declared.shards,
            sync=self.sync,
            expires=spec.ttl is not None,
            place=declared.place,
        )

    @property
    def shown_by(self) -> Iterator[type[Entity]]:
        yield self.target
        if self.declared.shards > 1:
            yield shard_entity(self.target.__table__)

    def shows(self, item: Entity, own: bytes) -> Iterator[Shown]:
        if isinstance(item, self.target):
            number = Decimal(getattr(item, self.field) or 0)
            yield holder_text(item.ref()).encode(), number, own
        elif item.__dict__["counter"] == f"{self.target.__name__}.{self.field}":
            yield item.__dict__["holder"].encode(), item.__dict__[AMOUNT], None

    def look(self, context: Context, suspect: Suspect, causes: Causes) -> Flow[Drift | None]:
        try:
            holder = yield from self._holder_of(context, suspect)
        except Undecodable:
            return None  # it is named itself
        if holder is None and suspect.holder is not None:
            return None
        follows: tuple[str, ...] = ()
        unread = self.source in causes.unread
        if holder is not None and suspect.holder is not None and self.items and not unread:
            counted = yield from self.items.recount(context, holder)
            if counted is None or counted.wanted == counted.number:
                causes.moving += counted is None
                return None
            suspect = replace(suspect, said=counted.wanted, found=counted.number)
        elif holder is not None:
            number = yield from total(context, holder, self.field)
            if number != (suspect.found or 0):
                causes.moving += self.sync == "transaction"
                return None  # it moved since it was met
        if holder is not None:
            assert suspect.said is not None, "a number is expected"
            causes.note(holder, self.field, suspect.said)
            follows = tuple(one.label for one in self._showing(context))
        shown = {"holder": {"S": suspect.address.decode()}} if holder is None else holder.wire()
        return Drift(
            self.kind,
            self.label,
            self.target.__table__.name,
            shown,
            suspect.said,
            suspect.found,
            holder,
            f"an item of {self.source.__name__} cannot be read, and may count" if unread else "",
            follows,
        )

    def _holder_of(self, context: Context, suspect: Suspect) -> Flow[Ref[Any] | None]:
        """The item that holds the number, or would hold it."""
        if suspect.holder is not None:
            item = yield from fetch(context, context.design, suspect.holder)
            # Nothing is counted any more on what is over, and it will be removed.
            return None if item is None or _is_over(context, item) else item.ref()
        for origin in suspect.origins:
            item = yield from fetch(context, context.design, origin)
            if item is not None:
                return self.holder(item)
        return None

    def _showing(self, context: Context) -> Iterator[Any]:
        """The structures that show the number elsewhere."""
        for one in context.design.maintainers:
            if (
                one.source is self.target
                and self.field in one.fields
                and isinstance(one, Reconciled)
            ):
                yield one

    def fix(self, context: Context, drift: Drift) -> Flow[None]:
        """Add what is missing: whoever counts meanwhile adds to it as well."""
        holder = drift.subject
        if holder is None:
            raise PlanError("the item that holds the counter is gone; delete its shards by hand")
        if drift.found is not None and self.items is not None:
            yield from self.recount(context, holder, self.items.related)
        else:
            yield from self._add(context, holder, drift)
        item = yield from raw(context, holder)
        present = None if item is None else self.target.__spec__.decode(item)
        for structure in self._showing(context):
            yield from structure.reconcile(context, None, present)

    def _add(self, context: Context, holder: Ref[Any], drift: Drift) -> Flow[None]:
        """What two scans found to be missing, if the number still is what they met."""
        if (yield from total(context, holder, self.field)) != (drift.found or 0):
            raise VersionConflict(f"{self.label} of {holder} moved meanwhile")
        missing = self._amount(drift.expected - (drift.found or 0))
        creates, shards = self.declared.creates, self.declared.shards
        fact = AmountFact(holder, self.field, missing, creates, shards)
        yield from commit(context, [replace(one, lenient=False) for one in fact.add()])


def _is_over(context: Context, item: Entity) -> bool:
    field = item.__spec__.ttl
    expires = getattr(item, field.name) if field is not None else None
    return expires is not None and expires <= context.now()
