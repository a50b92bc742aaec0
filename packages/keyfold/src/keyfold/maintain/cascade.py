"""Cascades: items deleted together with their parent.

A few items are deleted in the parent's own transaction. More are left to the consumer, which works
from the current state and can stop and restart at any point. An item added meanwhile is refused by
a check of its parent in its own transaction, or deleted when its record arrives.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from keyfold.design import schema
from keyfold.design.address import Ref
from keyfold.design.declaration import Declared
from keyfold.design.entity import Entity
from keyfold.design.follows import FITS, ITEMS_AT_ONCE, Follows
from keyfold.errors import ConditionFailed, NotFound, TooManyWrites
from keyfold.maintain.address import fetch, raw
from keyfold.maintain.counter import CounterMaintainer
from keyfold.maintain.drift import Drift
from keyfold.maintain.fact import NeedFact
from keyfold.maintain.job import JobMaintainer, JobStep, Place, carry_out
from keyfold.maintain.reconcile import unchanged_check
from keyfold.maintain.related import Related
from keyfold.maintain.row_log import FactComparison, Suspect
from keyfold.maintain.structure import Causes, KeptStructure, Reconciled, Shown
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Flow
from keyfold.runtime.intent import Delete, Intent
from keyfold.runtime.writes import commit


class Cascade(Declared):
    """Deletes an entity's items with their parent: `members = Cascade("Member")`."""

    def __init__(
        self,
        of: str,
        *,
        through: str = "key",
        via: Mapping[str, str] | None = None,
        sync: Literal["transaction", "stream"] = "transaction",
    ) -> None:
        super().__init__()
        self.of, self.through, self.sync = of, through, sync
        self.via = dict(via or {})

    def attach(self, entity: type[Entity]) -> None:
        design = entity.__table__.design

        def resolve() -> None:
            related = Related(
                entity,
                design.entities[self.of],
                self.through,
                self.via,
                owner=f"the cascade {entity.__name__}.{self.name}",
            )
            label = f"cascade {entity.__name__}.{self.name}"
            design.maintain(CascadeMaintainer(related, label, self.sync, self.place))
            design.maintain(OrphanMaintainer(related, label, self.sync))
            if self.sync == "transaction" and related.key.declared.index is not None:
                # An index shows an item late, possibly after its parent was deleted.
                design.maintain(OrphanMaintainer(related, f"{label} late", "stream"))

        design.when_complete(resolve)


class CascadeMaintainer(JobMaintainer):
    """Deletes the items of a deleted parent."""

    kind = "cascade"
    overflow = "stream"

    def __init__(
        self,
        related: Related,
        label: str,
        sync: Literal["transaction", "stream"],
        place: schema.Place,
    ) -> None:
        self.related, self.label, self.sync, self.place = related, label, sync, place
        self.source = related.parent

    @property
    def fields(self) -> frozenset[str]:
        return frozenset()

    def steady(self, touched: frozenset[str] | None) -> frozenset[str]:
        """If the parent counts its items, the count reveals items added meanwhile."""
        if touched is not None:
            return frozenset()
        design = self.source.__table__.design
        return frozenset(one.field for one in design.maintainers if self._counts(one))

    def joins(
        self, context: Context, old: Entity | None, new: Entity | None
    ) -> Flow[Sequence[Intent]]:
        """The deletes that fit into the parent's transaction; larger numbers are left to the
        stream.
        """
        if old is None or new is not None:
            return ()
        found, more = yield from self.related.page(context, old.ref(), None)
        if more is None and len(found) <= FITS:
            return [Delete(child.ref()) for child in found]
        if self.source.__table__.schema.stream is None:
            raise TooManyWrites(
                f"{old.ref()} has more than {FITS} items of {self.related.child.__name__}, and "
                f"{self.source.__table__.name} has no stream, so they cannot be deleted. "
                "Declare the table with stream='NEW_AND_OLD_IMAGES'"
            )
        return ()

    def afterwards(self, context: Context, gone: Entity) -> Flow[None] | None:
        """Checks for items added during the transaction, if neither a counter nor a stream
        would notice.
        """
        if self.source.__table__.schema.stream is not None or self.steady(None):
            return None
        return self.reconcile(context, gone, None)

    def job(self, old: Entity | None, new: Entity | None) -> Sweep | None:
        """Delete the remaining items of a deleted parent, unless it exists again."""
        return None if old is None or new is not None else Sweep(self.related, old.ref())

    def reconcile(self, context: Context, old: Entity | None, new: Entity | None) -> Flow[None]:
        job = self.job(old, new)
        if old is None or job is None or (yield from carry_out(context, job)):
            return
        if (yield from raw(context, old.ref())) is None:
            return
        # It was created again before its items were deleted: they now belong to the new one.
        for counter in [one for one in context.design.maintainers if self._counts(one)]:
            yield from counter.recount(context, old.ref(), self.related)

    def _counts(self, one: object) -> bool:
        """Whether it is a counter that moves in the transactions of these items."""
        return (
            isinstance(one, CounterMaintainer)
            and one.source is self.related.child
            and one.target is self.source
            and one.via == self.related.via
            and one.sync == "transaction"
            and one.declared.shards == 1
        )

    @property
    def follows(self) -> Follows:
        spec = self.source.__spec__
        return replace(
            self.record(self.related.child.__name__, "job"),
            via=tuple(self.related.via.items()),
            overflow="stream",
            expires=spec.ttl is not None,
            on=("REMOVE",),
            found=self.related.index_name,
            at_once=ITEMS_AT_ONCE,
            fits=FITS if self.sync == "transaction" else None,
            place=self.place,
        )


@dataclass(frozen=True)
class Sweep:
    """Deletes the items of a missing parent."""

    related: Related
    parent: Ref[Any]
    at_once: int = ITEMS_AT_ONCE

    def wanted(self, context: Context) -> Flow[Intent | None]:
        gone = (yield from raw(context, self.parent)) is None
        return unchanged_check(self.parent, None, frozenset()) if gone else None

    def step(self, context: Context, start: Place) -> Flow[JobStep]:
        found, more = yield from self.related.page(context, self.parent, start)
        return JobStep([Delete(child.ref()) for child in found], more)


class OrphanMaintainer(KeptStructure, Reconciled):
    """Keeps items from being added to a deleted parent."""

    kind = "orphan"
    compared = FactComparison(extra=False)

    def __init__(
        self, related: Related, label: str, sync: Literal["transaction", "stream"]
    ) -> None:
        self.related, self.label, self.sync = related, f"{label} orphans", sync
        self.source = related.child

    @property
    def owner(self) -> str:
        return self.label.removesuffix(" orphans").removesuffix(" late")

    @property
    def fields(self) -> frozenset[str]:
        return frozenset(self.related.via.values())

    @property
    def follows(self) -> Follows:
        return replace(
            self.record(self.related.parent.__name__, "need"),
            via=tuple(self.related.via.items()),
            on=("INSERT", "MODIFY"),
            found=self.related.index_name,
        )

    def facts(self, item: Entity) -> Iterator[NeedFact]:
        parent = self.related.parent_of(item)
        if parent is not None:
            yield NeedFact(parent)

    @property
    def shown_by(self) -> tuple[type[Entity]]:
        return (self.related.parent,)

    def shows(self, item: Entity, own: bytes) -> Iterator[Shown]:  # noqa: ARG002
        yield own, b"", own

    def look(self, context: Context, suspect: Suspect, causes: Causes) -> Flow[Drift | None]:  # noqa: ARG002
        child = yield from fetch(context, context.design, suspect.origins[0])
        parent = None if child is None else self.related.parent_of(child)
        if child is None or parent is None or (yield from raw(context, parent)) is not None:
            return None
        table, key = child.__table__.name, child.ref().wire()
        remedy = f"delete what is left of {parent}"
        return Drift(self.kind, self.owner, table, key, str(parent), None, parent, remedy=remedy)

    def fix(self, context: Context, drift: Drift) -> Flow[None]:
        assert drift.subject is not None, "an orphan knows its parent"
        yield from carry_out(context, Sweep(self.related, drift.subject))

    def reconcile(self, context: Context, old: Entity | None, new: Entity | None) -> Flow[None]:
        if self.sync == "transaction" or new is None:
            return
        if old is not None and self.related.place_of(old) == self.related.place_of(new):
            return
        yield from self.related.wait_until_shown(context, new)
        parent = self.related.parent_of(new)
        if parent is None or (yield from raw(context, parent)) is not None:
            return
        guard = unchanged_check(parent, None, frozenset())
        condition = self.related.belongs(parent)
        try:
            yield from commit(context, [guard, Delete(new.ref(), condition)])
        except (ConditionFailed, NotFound):
            # It is already deleted, or belongs to another parent by now.
            return
