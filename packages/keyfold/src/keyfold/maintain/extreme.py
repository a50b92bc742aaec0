"""Extremes: the newest, largest or smallest of many, shown on their owner.

A removed amount is subtracted. A removed maximum needs a search for the next one. So whoever
removes or worsens the shown candidate queries the key or index that contains the candidates.

Every change of a candidate moves a number on the owner. A query alone would be a phantom read: one
writer deletes the largest and finds no other; meanwhile another adds a candidate that is not larger
and leaves the owner unchanged; the delete would succeed and show nothing. Checking the owner costs
as much as writing it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NoReturn

from keyfold.design import codes
from keyfold.design.address import Ref
from keyfold.design.declaration import Declared, refuse
from keyfold.design.entity import Entity
from keyfold.design.fields import check_shown
from keyfold.design.follows import Follows
from keyfold.design.formats import Format, of_kind
from keyfold.design.markers import FieldMarker
from keyfold.design.template import Slot
from keyfold.maintain.address import fetch, ref_bytes, value_digest, wire_bytes
from keyfold.maintain.drift import SET_IT, UNKNOWN, Drift
from keyfold.maintain.fact import ItemFact
from keyfold.maintain.related import PAGE, Related
from keyfold.maintain.row_log import FactComparison, Suspect
from keyfold.maintain.structure import Causes, KeptStructure, Reconciled, Shown, Sync
from keyfold.runtime.changes import Change, Set, clear
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Flow
from keyfold.runtime.intent import Derived, Intent, Pending
from keyfold.runtime.writes import commit
from keyfold_engine.values.key_order import key_bytes


class KeptMark(FieldMarker):
    """Marks fields that only a maintainer writes."""

    kept = True


class Extreme(Declared):
    """Shows the largest of many: `highest = Extreme("Bid", by="price", moves="bids", shows={...})`.

    `shows` maps fields of the owner to fields of the candidate, including the rank and the
    candidate's key. Among equal ranks the greater key wins. `moves` is a number on the owner that
    each change of a candidate moves. `through` names the key or placement whose partition contains
    one owner's candidates, in rank order if one page is to suffice.
    """

    kind = "extreme"

    def __init__(
        self,
        of: str,
        *,
        by: str,
        shows: Mapping[str, str],
        moves: str,
        smallest: bool = False,
        through: str = "key",
        via: Mapping[str, str] | None = None,
        sync: Sync = "transaction",
    ) -> None:
        super().__init__()
        if not isinstance(shows, Mapping):
            refuse(
                codes.MARKER_MISUSED,
                f"{self.kind} has shows={shows!r}, which names no field of the owner.",
                'Name fields of the owner, as shows={"last_text": "text"}.',
            )
        self.of, self.by, self.shows, self.moves = of, by, dict(shows), moves
        self.smallest, self.through, self.sync = smallest, through, sync
        self.via = dict(via or {})

    def attach(self, entity: type[Entity]) -> None:
        fields = entity.__spec__.fields
        for name in (*self.shows, self.moves):
            if name not in fields:
                self._refuse(entity, f"{entity.__name__} has no field {name!r}.")
            if name == self.moves and fields[name].kind != "integer":
                self._refuse(entity, f"{name} increases with each change, so it must be an int.")
            fields[name] = replace(fields[name], marks=(*fields[name].marks, KeptMark()))
        design = entity.__table__.design
        design.when_complete(lambda: design.maintain(ExtremeMaintainer(self, entity)))

    def _refuse(self, entity: type[Entity], what: str) -> NoReturn:
        refuse(
            codes.UNKNOWN_REFERENCE,
            f"{self.kind} {entity.__name__}.{self.name}: {what}",
            "Name fields of the owner, and of the candidate that each shows.",
        )


class Latest(Extreme):
    """Shows the newest of many: `last = Latest("Message", by="at", moves="sent", shows={...})`."""

    kind = "latest"


@dataclass(frozen=True)
class BestFact(ItemFact):
    """A candidate: its rank, and what its owner shows of it. The best one holds.

    One candidate alone does not tell which is shown: see `joins`.
    """

    ref: Ref[Any]
    """The owner."""
    rank: bytes
    """Compares as DynamoDB compares what is stored."""
    key: bytes
    shows: tuple[Any, ...]

    @property
    def order(self) -> bytes:
        return self.rank + b"\0" + self.key

    @property
    def row(self) -> tuple[bytes, bytes]:
        return ref_bytes(self.ref), self.order + b"\0" + value_digest(self.shows)

    def join(self, other: BestFact) -> BestFact:
        return max(self, other, key=lambda fact: fact.order)


_RANKED = (
    *("binary", "boolean", "date", "decimal", "duration", "float"),
    *("integer", "string", "timestamp", "uuid"),
)
"""Kinds of fields whose stored values have an order."""


class ExtremeMaintainer(KeptStructure, Reconciled):
    """Shows the best candidate on each owner."""

    def __init__(self, declared: Extreme, target: type[Entity]) -> None:
        self.declared, self.target, self.kind = declared, target, declared.kind
        self.label = f"{declared.kind} {target.__name__}.{declared.name}"
        self.sync = declared.sync
        design = target.__table__.design
        self.source = design.entities[declared.of]
        self.related = Related(
            target,
            self.source,
            declared.through,
            declared.via,
            owner=f"the {self.label}",
        )
        self.compared = FactComparison(best="least" if declared.smallest else "most")
        needed = {declared.by, *self.source.__spec__.key.address}
        needed -= set(self.related.via.values())
        missing = sorted(needed - set(declared.shows.values()))
        unknown = [n for n in declared.shows.values() if n not in self.source.__spec__.fields]
        if missing or unknown:
            name = self.source.__name__
            declared._refuse(
                target,
                f"it must show {missing[0]!r} of {name}."
                if missing
                else f"{name} has no field {unknown[0]!r}.",
            )
        ranked = self.source.__spec__.fields[declared.by]
        if (ranked.codec.kind if ranked.codec else ranked.kind) not in _RANKED:
            declared._refuse(
                target,
                f"{ranked.name} of {self.source.__name__} is of kind {ranked.kind}, which has no "
                "order.",
            )
        for ours, theirs in declared.shows.items():
            held, shown = (
                entity.__spec__.fields[field].kind
                for entity, field in ((target, ours), (self.source, theirs))
            )
            if held != shown:
                declared._refuse(
                    target,
                    f"{ours} is of kind {held}, and shows {theirs} of {self.source.__name__}, "
                    f"which is of kind {shown}.",
                )
            own, origin = target.__spec__.fields[ours], self.source.__spec__.fields[theirs]
            check_shown(own, origin)

    @property
    def fields(self) -> frozenset[str]:
        return frozenset((*self.declared.shows.values(), *self.related.via.values()))

    @property
    def follows(self) -> Follows:
        spec, declared = self.source.__spec__, self.declared
        return replace(
            self.record(self.target.__name__, "best"),
            writes=(*declared.shows, declared.moves),
            via=tuple(self.related.via.items()),
            by=declared.by,
            smallest=declared.smallest,
            shows=tuple(declared.shows.items()),
            expires=spec.ttl is not None,
            found=self.related.index_name,
            place=declared.place,
        )

    def facts(self, item: Entity) -> Iterator[BestFact]:
        owner = self.related.parent_of(item)
        rank = getattr(item, self.declared.by)
        if owner is not None and rank is not None:
            shows = tuple(getattr(item, name) for name in self.declared.shows.values())
            yield BestFact(owner, self._ranked(rank), wire_bytes(item.ref().wire()), shows)

    def _ranked(self, rank: Any) -> bytes:
        wire = self.source.__spec__.encoders[self.declared.by](rank)
        return bytes([wire["BOOL"]]) if "BOOL" in wire else key_bytes(wire)

    def joins(
        self, context: Context, old: Entity | None, new: Entity | None
    ) -> Flow[Iterable[Intent]]:
        yield from ()
        before, after = self._fact(old), self._fact(new)
        if before == after:
            return ()
        owners = {fact.address: fact.ref for fact in (before, after) if fact is not None}
        return [self._derive(context, owner) for owner in owners.values()]

    def reconcile(self, context: Context, old: Entity | None, new: Entity | None) -> Flow[None]:
        if new is not None:
            yield from self.related.wait_until_shown(context, new)
        for intent in (yield from self.joins(context, old, new)):
            yield from commit(context, [intent])

    def _fact(self, item: Entity | None) -> BestFact | None:
        return None if item is None else next(self.facts(item), None)

    def _derive(self, context: Context, owner: Ref[Any], *, looking: bool = False) -> Derived:
        def changes(held: Entity, pending: Pending) -> Flow[Mapping[str, Change]]:
            best = yield from self._best(context, owner, held, pending, looking=looking)
            shown = [None] * len(self.declared.shows) if best is None else best.shows
            found: dict[str, Change] = {
                name: clear if value is None else Set(value)
                for name, value in zip(self.declared.shows, shown, strict=True)
                if getattr(held, name) != value
            }
            moves = getattr(held, self.declared.moves)
            return {**found, self.declared.moves: Set(moves + 1)}

        return Derived(owner, changes, frozenset({self.declared.moves}))

    def _best(
        self,
        context: Context,
        owner: Ref[Any],
        held: Entity,
        pending: Pending,
        *,
        looking: bool = False,
    ) -> Flow[BestFact | None]:
        """The best of all candidates, including this commit's changes."""
        changed: dict[bytes, BestFact | None] = {}
        for ref, item in pending(self.source):
            fact = self._fact(item)
            ours = fact is not None and fact.address == owner.address
            changed[wire_bytes(ref.wire())] = fact if ours else None
        candidates = [fact for fact in changed.values() if fact is not None]
        shown = self._shown_candidate(held)
        if self.sync == "transaction" and not looking:
            # The shown one is better than all that this commit leaves unchanged.
            stays = shown is None or shown.key not in changed
            after = None if shown is None else changed.get(shown.key)
            if stays or (shown and after and self._better([shown, after]) is after):
                return self._better([*candidates, *([shown] if shown and stays else [])])
        start: dict[str, Any] | None = None
        order = self._order
        limit = PAGE if order is None else 2 + len(changed)
        while True:
            found, start = yield from self.related.page(
                context, owner, start, descending=not self.declared.smallest, limit=limit
            )
            facts = [(one, fact) for one in found for fact in self.facts(one)]
            left = [(one, fact) for one, fact in facts if fact.key not in changed]
            candidates += [fact for _, fact in left]
            # In order, whatever follows another text is worse; within one the ranks decide.
            by = self.declared.by
            texts = {order.render(getattr(one, by)) for one, _ in left} if order else ()
            if start is None or len(texts) > 1:
                return self._better(candidates)

    def _better(self, facts: list[BestFact]) -> BestFact | None:
        best = min if self.declared.smallest else max
        return best(facts, key=lambda fact: fact.order, default=None)

    @cached_property
    def _order(self) -> Format | None:
        """How the rank stands in the sort key, if candidates are found in its order."""
        held = set(self.related.via.values())
        sort = self.related.key.declared.templates.sort
        for attribute in () if sort is None else sort.attributes:
            for slot in attribute.parts:
                if not isinstance(slot, Slot) or slot.field in held:
                    continue
                # Text in one case, or before a delimiter, sorts otherwise than by itself.
                form, kind = slot.format, self.source.__spec__.fields[slot.field].kind
                sorts = form.sortable and form.kinds != ("string",)
                fixed = not form.name and of_kind(form, kind).width is not None
                is_rank = slot.field == self.declared.by
                return form if is_rank and (sorts or fixed or attribute.is_bare_field) else None
        return None

    def _shown_candidate(self, held: Entity) -> BestFact | None:
        """The candidate that an owner shows."""
        values = {theirs: getattr(held, name) for name, theirs in self.declared.shows.items()}
        values |= {theirs: getattr(held, name) for name, theirs in self.related.via.items()}
        rank = values.get(self.declared.by)
        if rank is None:
            return None
        fields = self.source.__spec__.key.address
        key = Ref(self.source, {name: values[name] for name in fields})
        shows = tuple(getattr(held, name) for name in self.declared.shows)
        return BestFact(held.ref(), self._ranked(rank), wire_bytes(key.wire()), shows)

    @property
    def shown_by(self) -> tuple[type[Entity]]:
        return (self.target,)

    def shows(self, item: Entity, own: bytes) -> Iterator[Shown]:
        shown = self._shown_candidate(item)
        if shown is not None:
            yield own, shown.row[1], own

    def look(self, context: Context, suspect: Suspect, causes: Causes) -> Flow[Drift | None]:
        held = yield from fetch(context, context.design, suspect.address)
        if held is None:
            return None
        nothing: Pending = lambda _: ()  # noqa: E731
        best = yield from self._best(context, held.ref(), held, nothing, looking=True)
        shown = self._shown_candidate(held)
        if (None if best is None else best.shows) == (None if shown is None else shown.shows):
            return None
        names = list(self.declared.shows)
        expected = None if best is None else dict(zip(names, best.shows, strict=True))
        found = None if shown is None else dict(zip(names, shown.shows, strict=True))
        table = self.target.__table__.name
        unread = self.source in causes.unread
        reason = f"an item of {self.source.__name__} cannot be read, and it may be the one to show"
        return Drift(
            self.kind,
            self.label,
            table,
            held.ref().wire(),
            UNKNOWN if unread else expected,
            found,
            held.ref(),
            reason if unread else "",
            SET_IT,
        )

    def fix(self, context: Context, drift: Drift) -> Flow[None]:
        assert drift.subject is not None, "an extreme knows its owner"
        yield from commit(context, [self._derive(context, drift.subject, looking=True)])
