"""Copied fields: a field of another entity, kept equal on the items that show it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from keyfold.design import codes, schema
from keyfold.design.address import Ref
from keyfold.design.declaration import refuse
from keyfold.design.entity import Entity
from keyfold.design.fields import check_shown
from keyfold.design.follows import ITEMS_AT_ONCE, Follows
from keyfold.design.markers import StructureMarker
from keyfold.design.source import caller
from keyfold.errors import ConditionFailed, NotFound
from keyfold.maintain.address import fetch, raw, value_digest
from keyfold.maintain.drift import SET_IT, Drift
from keyfold.maintain.fact import ShownFact
from keyfold.maintain.job import JobMaintainer, JobStep, Place
from keyfold.maintain.reconcile import unchanged_check
from keyfold.maintain.related import Related
from keyfold.maintain.row_log import FactComparison, Suspect
from keyfold.maintain.structure import Causes, KeptStructure, Reconciled, Shown
from keyfold.runtime.changes import Set, clear
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Flow
from keyfold.runtime.intent import Intent, Update
from keyfold.runtime.writes import commit


class Copied(StructureMarker):
    """Marks a copy: `group_name: Annotated[str, Copied("Group", "name", through="key")]`.

    `through` names the key or placement that finds the items of one origin. The creator of an item
    sets the initial value; from then on the stream keeps it equal.
    """

    def __init__(
        self, of: str, field: str, *, through: str = "key", via: Mapping[str, str] | None = None
    ) -> None:
        self.of, self.field, self.through = of, field, through
        self.via = dict(via or {})
        self.place = caller()

    def attach_field(self, entity: type[Entity], field: str) -> None:
        design = entity.__table__.design

        def resolve() -> None:
            origin = design.entities[self.of]
            owner = f"the copy {entity.__name__}.{field}"
            if self.field not in origin.__spec__.fields:
                refuse(
                    codes.UNKNOWN_REFERENCE,
                    f"{owner} names the field {self.field!r}, which {self.of} does not have.",
                    f"Its fields are: {', '.join(origin.__spec__.fields)}.",
                )
            copy = entity.__spec__.fields[field]
            check_shown(copy, origin.__spec__.fields[self.field])
            related = Related(origin, entity, self.through, self.via, owner=owner)
            maintainer = OriginMaintainer(related, self.field, field, self.place)
            design.maintain(maintainer)
            design.maintain(CopyMaintainer(maintainer))

        design.when_complete(resolve)


class OriginMaintainer(JobMaintainer):
    """Propagates an origin's new value to all its copies."""

    kind = "copied"
    sync: Literal["stream"] = "stream"

    def __init__(self, related: Related, field: str, copy: str, place: schema.Place) -> None:
        self.related, self.field, self.copy, self.place = related, field, copy, place
        self.source = related.parent
        self.label = f"copied {related.child.__name__}.{copy}"

    @property
    def fields(self) -> frozenset[str]:
        return frozenset({self.field})

    def job(self, old: Entity | None, new: Entity | None) -> Spread | None:
        if new is None or (
            old is not None and getattr(old, self.field) == getattr(new, self.field)
        ):
            return None
        return Spread(self, new.ref())

    def update(self, ref: Ref[Any], origin: Ref[Any], value: Any) -> Update:
        change = clear if value is None else Set(value)
        condition = self.related.belongs(origin)
        return Update(ref, {self.copy: change}, condition, counting=True)

    @property
    def follows(self) -> Follows:
        return replace(
            self.record(self.related.child.__name__, "job"),
            fields=(self.field,),
            writes=(self.copy,),
            via=tuple(self.related.via.items()),
            on=("INSERT", "MODIFY"),
            found=self.related.index_name,
            at_once=ITEMS_AT_ONCE,
            place=self.place,
        )


@dataclass
class Spread:
    """Gives every copy its origin's current value."""

    copied: OriginMaintainer
    origin: Ref[Any]
    value: Any = None
    at_once: int = ITEMS_AT_ONCE

    def wanted(self, context: Context) -> Flow[Intent | None]:
        item = yield from raw(context, self.origin)
        if item is None:
            return None
        self.value = getattr(self.origin.entity.__spec__.decode(item), self.copied.field)
        return unchanged_check(self.origin, item, self.copied.fields)

    def step(self, context: Context, start: Place) -> Flow[JobStep]:
        found, more = yield from self.copied.related.page(context, self.origin, start)
        stale = [one for one in found if getattr(one, self.copied.copy) != self.value]
        updates = [self.copied.update(one.ref(), self.origin, self.value) for one in stale]
        return JobStep(updates, more)


class CopyMaintainer(KeptStructure, Reconciled):
    """Checks the initial value of a new copy, which may be older than the origin's."""

    kind = "copy"
    sync: Literal["stream"] = "stream"
    compared = FactComparison(missing=False, extra=False, apart=True)

    def __init__(self, origin: OriginMaintainer) -> None:
        related = origin.related
        self.origin, self.related = origin, related
        self.field, self.copy = origin.field, origin.copy
        self.source = related.child
        self.label = f"{self.origin.label} new"

    @property
    def owner(self) -> str:
        return self.origin.label

    @property
    def fields(self) -> frozenset[str]:
        return frozenset({self.copy, *self.related.via.values()})

    @property
    def follows(self) -> Follows:
        return replace(
            self.record(self.related.parent.__name__, "shown"),
            writes=(self.copy,),
            via=tuple(self.related.via.items()),
            on=("INSERT", "MODIFY"),
            found=self.related.index_name,
            place=self.origin.place,
        )

    def facts(self, item: Entity) -> Iterator[ShownFact]:
        origin = self.related.parent_of(item)
        if origin is not None:
            yield ShownFact(origin, getattr(item, self.copy))

    @property
    def shown_by(self) -> tuple[type[Entity]]:
        return (self.related.parent,)

    def shows(self, item: Entity, own: bytes) -> Iterator[Shown]:
        yield own, value_digest(getattr(item, self.field)), own

    def look(self, context: Context, suspect: Suspect, causes: Causes) -> Flow[Drift | None]:
        child = yield from fetch(context, context.design, suspect.origins[0])
        origin = yield from fetch(context, context.design, suspect.address)
        right = causes.correct(origin)
        if child is None or right is None or self.related.parent_of(child) is None:
            return None
        value, shown = getattr(right, self.field), getattr(child, self.copy)
        if value == shown or next(self.facts(child)).row[0] != suspect.address:
            return None
        table, ref = child.__table__.name, child.ref()
        return Drift("copied", self.owner, table, ref.wire(), value, shown, ref, remedy=SET_IT)

    def fix(self, context: Context, drift: Drift) -> Flow[None]:
        assert drift.subject is not None, "a copied field knows its item"
        item = yield from raw(context, drift.subject)
        if item is not None:
            yield from self.restore_copy(context, drift.subject.entity.__spec__.decode(item))

    def reconcile(self, context: Context, old: Entity | None, new: Entity | None) -> Flow[None]:
        if new is None or (
            old is not None and _field_values(old, self.fields) == _field_values(new, self.fields)
        ):
            return
        yield from self.related.wait_until_shown(context, new)
        try:
            yield from self.restore_copy(context, new)
        except (NotFound, ConditionFailed):
            # The item is deleted or belongs elsewhere now, and has its own record.
            return

    def restore_copy(self, context: Context, copy: Entity) -> Flow[None]:
        """Give one item its origin's current value; refused if either changes meanwhile."""
        origin = self.related.parent_of(copy)
        if origin is None:
            return
        item = yield from raw(context, origin)
        if item is None:
            return
        value = getattr(origin.entity.__spec__.decode(item), self.field)
        if getattr(copy, self.copy) == value:
            return
        guard = unchanged_check(origin, item, frozenset({self.field}))
        yield from commit(context, [guard, self.origin.update(copy.ref(), origin, value)])


def _field_values(item: Entity, fields: frozenset[str]) -> dict[str, Any]:
    return {name: getattr(item, name) for name in fields}
