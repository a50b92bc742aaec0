"""Counters: numbers kept equal to a count or sum over another entity's items."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from functools import cached_property
from typing import Any, Literal, cast

from keyfold.design import codes, condition
from keyfold.design.address import Ref
from keyfold.design.declaration import refuse
from keyfold.design.entity import Entity
from keyfold.design.follows import Follows
from keyfold.design.markers import CountMarker
from keyfold.design.recorder import declare
from keyfold.design.source import caller
from keyfold.errors import ConditionFailed, PlanError, VersionConflict
from keyfold.maintain.address import fetch, key_at
from keyfold.maintain.counter_declaration import CounterDeclaration
from keyfold.maintain.drift import SET_IT, UNKNOWN, Drift
from keyfold.maintain.fact import AmountFact
from keyfold.maintain.recount import ATTEMPTS, CountedItems
from keyfold.maintain.related import Related, refuse_itself
from keyfold.maintain.row_log import FactComparison, Suspect
from keyfold.maintain.shards import AMOUNT, holder_text, shard_entity, total
from keyfold.maintain.structure import (
    Causes,
    Condition,
    Restatement,
    Shown,
    SummedStructure,
    Sync,
)
from keyfold.runtime.changes import Add, negative
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Flow
from keyfold.runtime.intent import Update
from keyfold.runtime.walk import again_after
from keyfold.runtime.writes import commit
from keyfold_engine.expressions.ast import Or, Path
from keyfold_engine.values.number import exact_sum

Amount = int | Decimal


class Counter(CountMarker):
    """Marks a number field: `going: Annotated[int, Counter("Rsvp", where=...)] = 0`.

    `of` is the counted entity. The holder is found by its key fields on the counted item, under
    other names if `via` says so. `creates` creates the holder on the first count. `shards` spreads
    a hot counter over that number of items; `total` adds them up. The number of shards may grow,
    but not shrink. `stamps` names the holder's field that says when the number last moved.
    """

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
        stamps: str = "",
    ) -> None:
        if not isinstance(shards, int) or shards < 1:
            refuse(
                codes.MARKER_MISUSED,
                f"shards must be at least 1, not {shards!r}.",
                "Give it one or more.",
            )
        self.of, self.where, self.sums, self.sync = of, where, sums, sync
        self.via = dict(via or {})
        self.creates, self.shards, self.stamps = creates, shards, stamps
        self.place = caller()

    def attach_field(self, entity: type[Entity], field: str) -> None:
        design = entity.__table__.design
        if self.shards > 1:
            shard_entity(entity.__table__)
        design.when_complete(lambda: design.maintain(CounterMaintainer(self, entity, field)))


class CounterMaintainer(SummedStructure):
    """The changes of one counter when a counted item changes."""

    kind = "counter"

    def __init__(self, declared: Counter, target: type[Entity], field: str) -> None:
        self.declared, self.target, self.field = declared, target, field
        self.label = f"counter {target.__name__}.{field}"
        self.source = target.__table__.design.entities[declared.of]
        self.sync = declared.sync
        # If the holder is gone, so is its number.
        creates = declared.creates or declared.shards > 1
        self.compared = FactComparison(adds=True, missing=creates)
        key = target.__spec__.key.address
        self.via = {name: declared.via.get(name, name) for name in key}
        CounterDeclaration(
            declared, self.label, target, field, self.source, tuple(self.via.values())
        ).check()
        refuse_itself(target, self.source, self.via, f"the {self.label}")
        counted, self.when = self.source.__spec__, None
        if declared.where is not None:
            self.when = declare(declared.where, self.source)
        self._holds = None if self.when is None else condition.evaluator(self.when, counted)
        self._refuse_circle()
        self.items = self._counted_items()
        """Where one consistent query finds all that a holder counts."""

    def _refuse_circle(self) -> None:
        """Refuse a number that decides what it counts: it would never settle."""
        moved, reached = {(self.target, self.field)}, set[CounterMaintainer]()
        while moved and not any((self.source, name) in moved for name in self.fields):
            counters = self.target.__table__.design.maintainers
            onwards = {
                one
                for one in counters
                if isinstance(one, CounterMaintainer) and one not in reached
                if any((one.source, name) in moved for name in one.fields)
            }
            reached |= onwards
            moved = {(one.target, one.field) for one in onwards}
        if moved:
            through = ", ".join(sorted(one.label for one in reached))
            refuse(
                codes.MARKER_MISUSED,
                f"the {self.label} depends on its own value"
                + (f", through {through}." if through else "."),
                "In where= and sums=, use fields that do not depend on the counter.",
            )

    def _counted_items(self) -> CountedItems | None:
        if self.sync == "stream" or self.declared.shards > 1:
            return None
        partition = self.source.__spec__.key.templates.partition.fields
        if not set(partition) <= set(self.via.values()):
            return None
        owner = f"the {self.label}"
        related = Related(self.target, self.source, "key", self.via, owner=owner)
        return CountedItems(related, self.field, self.amount)

    @cached_property
    def fields(self) -> frozenset[str]:
        summed = {self.declared.sums} if self.declared.sums else set()
        return frozenset(self.via.values()) | condition.fields_of(self.when) | summed

    def amount(self, item: Entity) -> Amount:
        """What one item adds to the counter."""
        if self._holds is not None and not self._holds(item.__dict__):
            return 0
        if not self.declared.sums:
            return 1
        value: Amount | None = getattr(item, self.declared.sums)
        return value or 0

    def holder(self, item: Entity) -> Ref[Any] | None:
        """The holder of the counter for a counted item."""
        values = {name: getattr(item, theirs) for name, theirs in self.via.items()}
        return None if None in values.values() else Ref(self.target, values)

    def facts(self, item: Entity) -> tuple[AmountFact, ...]:
        holder = self.holder(item)
        if holder is None:
            return ()
        return (self._fact(holder, self.amount(item)),)

    def _fact(self, holder: Ref[Any], number: Amount) -> AmountFact:
        says = self.declared
        return AmountFact(holder, self.field, number, says.creates, says.shards, says.stamps)

    @property
    def carrier(self) -> type[Entity] | None:
        return self.target if self.sync == "stream" and self.declared.shards == 1 else None

    def carry_over(self, gone: Entity) -> Iterator[Update]:
        """A recreated holder starts at zero, and records of earlier items arrive late.
        Starting from its predecessor's count, they lead to the right number.
        """
        number = getattr(gone, self.field)
        if number:
            yield Update(gone.ref(), {self.field: Add(number)}, counting=True, if_missing="skip")

    @property
    def recounts(self) -> bool:
        return self.items is not None

    def recount(self, context: Context, holder: Ref[Any], related: Related) -> Flow[None]:
        """Correct the number to match these items, even while others count."""
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
                stamps = self.declared.stamps
                counted = Update[Any](holder, change, held, counting=True, stamps=stamps)
                yield from commit(context, [counted])
                return
            except ConditionFailed:
                # Another repair would add the same, so the number must be what was read.
                yield again_after(attempt)
        raise VersionConflict(
            f"{self.label} of {holder} changes faster than its items can be counted"
        )

    def _holds_number(self, number: Any) -> condition.Condition | None:
        """The condition that the field has this value; a missing one counts as 0."""
        same = condition.equal(self.field, number, self.target.__spec__)
        none = condition.presence(Path((self.field,)), there=False)
        return same if number else condition.combined(Or, same, none)

    def _amount(self, number: Decimal) -> Any:
        kind = self.target.__spec__.fields[self.field].kind
        return {"integer": int, "float": float}.get(kind, Decimal)(number)

    @property
    def follows(self) -> Follows:
        spec, declared = self.source.__spec__, self.declared
        return replace(
            self.record(self.target.__name__, "amount"),
            writes=(self.field,),
            adds=(self.field,),
            via=tuple(self.via.items()),
            when=self.when,
            sums=declared.sums,
            creates=declared.creates,
            stamps=declared.stamps,
            shards=declared.shards,
            expires=spec.ttl is not None,
            place=declared.place,
        )

    @classmethod
    def restate(cls, record: Follows, when: Condition) -> Restatement:
        [field] = record.writes
        told = {*condition.fields_of(record.when), *dict(record.via).values()}
        told |= {record.sums} if record.sums else set()
        mark = Counter(
            record.source,
            where=when,
            sums=record.sums,
            via=dict(record.via),
            sync=cast("Sync", record.sync),
            creates=record.creates,
            shards=record.shards,
            stamps=record.stamps,
        )
        return Restatement(
            record.target,
            frozenset(
                {(record.source, name) for name in told}
                | {(record.target, name) for name in (field, record.stamps) if name}
            ),
            marks={field: mark},
        )

    @property
    def shown_by(self) -> Iterator[type[Entity]]:
        yield self.target
        if self.declared.shards > 1:
            yield shard_entity(self.target.__table__)

    def shows(self, item: Entity, own: bytes) -> Iterator[Shown]:
        if isinstance(item, self.target):
            number = exact_sum([getattr(item, self.field) or 0])
            sharded = self.declared.shards > 1
            yield holder_text(item.ref()).encode() if sharded else own, number, own
        elif item.__dict__["counter"] == f"{self.target.__name__}.{self.field}":
            yield item.__dict__["holder"].encode(), item.__dict__[AMOUNT], None

    def look(self, context: Context, suspect: Suspect, causes: Causes) -> Flow[Drift | None]:
        holder = yield from self._holder_of(context, suspect)
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
                if self.sync == "stream":
                    causes.late.add((suspect.structure, suspect.address))
                return None  # It moved since it was read.
        if holder is not None:
            assert suspect.said is not None, "a number is expected"
            if not unread:
                causes.note(holder, self.field, suspect.said)
            follows = tuple(one.label for one in self.shown_elsewhere(context))
        return Drift(
            self.kind,
            self.label,
            self.target.__table__.name,
            self._key_at(suspect.address) if holder is None else holder.wire(),
            UNKNOWN if unread else suspect.said,
            suspect.found,
            holder,
            f"an item of {self.source.__name__} cannot be read, and it may count" if unread else "",
            remedy=SET_IT,
            follows=follows,
        )

    def _key_at(self, address: bytes) -> Mapping[str, Any]:
        return {"holder": {"S": address.decode()}} if self.declared.shards > 1 else key_at(address)

    def _holder_of(self, context: Context, suspect: Suspect) -> Flow[Ref[Any] | None]:
        """The item that holds the number, or would hold it."""
        if suspect.holder is not None:
            item = yield from fetch(context, context.design, suspect.holder)
            # Nothing is counted on an expired item, which will be removed.
            return None if item is None or _is_over(context, item) else item.ref()
        for origin in suspect.origins:
            item = yield from fetch(context, context.design, origin)
            if item is not None:
                return self.holder(item)
        return None

    def fix(self, context: Context, drift: Drift) -> Flow[None]:
        """Add what is missing; this commutes with concurrent counting."""
        holder = drift.subject
        if holder is None:
            raise PlanError("the item with the counter was deleted; delete its shards manually")
        if drift.found is not None and self.items is not None:
            yield from self.recount(context, holder, self.items.related)
        else:
            yield from self._add(context, holder, drift)
        yield from self.bring_shown(context, holder)

    def _add(self, context: Context, holder: Ref[Any], drift: Drift) -> Flow[None]:
        """Add what two scans found missing, if the number is still what they read."""
        if (yield from total(context, holder, self.field)) != (drift.found or 0):
            raise VersionConflict(f"{self.label} of {holder} changed in the meantime")
        missing = self._amount(exact_sum([drift.expected, negative(drift.found or Decimal(0))]))
        made = (
            one if one.if_missing == "create" else replace(one, if_missing="refuse")
            for one in self._fact(holder, missing).add()
        )
        yield from commit(context, list(made))


def _is_over(context: Context, item: Entity) -> bool:
    field = item.__spec__.ttl
    expires = getattr(item, field.name) if field is not None else None
    return expires is not None and expires <= context.now()
