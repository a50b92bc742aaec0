"""The scan of a verification: every item once, what it says and what it shows noted down."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any, Final

from keyfold.design.design import Declarations
from keyfold.design.entity import Entity
from keyfold.design.entity_spec import EntitySpec
from keyfold.design.table import Table
from keyfold.errors import KeyfoldError
from keyfold.maintain.address import address_bytes
from keyfold.maintain.drift import Drift
from keyfold.maintain.fact import MARKERS
from keyfold.maintain.rows import FOUND, SAID, FactComparison, RowLog
from keyfold.maintain.structure import Audited, Causes, FeedAudit, KeptStructure, MarkedStructure
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Flow
from keyfold.runtime.idempotency import PREFIX as ONCE
from keyfold.runtime.walk import Walk

WireItem = dict[str, Any]
Progress = Callable[[int], None]
Placed = list[tuple[int, KeptStructure]]
OnDrift = Callable[[Drift], Flow[None]]

STRANGERS: Final = 100
"""How many items that no entity declares are listed; all are counted."""


class Structures:
    """The secondary structures of a design that a verification looks at."""

    def __init__(self, design: Declarations, only: frozenset[str] = frozenset()) -> None:
        design.complete()
        self.design = design
        self.labels = ["index", *(m.label for m in design.maintainers)]
        self.indexes = not only or "index" in only
        self.kept: list[KeptStructure] = []
        self.audited: list[Audited] = []
        seen: set[tuple[str, str]] = set()
        for one in design.maintainers:
            if only and one.label not in only and one.owner not in only:
                continue
            if isinstance(one, Audited):
                self.audited.append(one)
            elif isinstance(one, KeptStructure) and (one.owner, one.kind) not in seen:
                # A declaration that is kept in two ways has its facts once.
                seen.add((one.owner, one.kind))
                self.kept.append(one)
        self.by_type = {
            (entity.__table__.name, entity.__spec__.type_name): entity.__spec__
            for entity in design.entities.values()
        }

    @property
    def comparisons(self) -> list[FactComparison]:
        return [structure.compared for structure in self.kept]

    def recognise(self, table: Table, item: WireItem) -> EntitySpec | None:
        """The entity that an item belongs to; None for items that are none of ours."""
        attribute = table.schema.type_attribute
        if attribute is not None and attribute in item:
            return self.by_type.get((table.name, item[attribute].get("S", "")))
        for entity in table.entities:
            if entity.__spec__.recognises(item):
                return entity.__spec__
        return None


class FactSurvey:
    """One scan of all tables, or of what numbers need alone."""

    def __init__(
        self,
        structures: Structures,
        log: RowLog,
        causes: Causes,
        audits: Iterable[FeedAudit] = (),
        *,
        numbers_alone: bool = False,
    ) -> None:
        self.structures, self.log, self.causes = structures, log, causes
        self.audits = list(audits)
        self.indexes = structures.indexes and not numbers_alone
        self.undeclared = 0
        self.strangers: list[tuple[str, WireItem]] = []
        self.foreign: Tally[tuple[str, str]] = Tally()
        entities = structures.design.entities.values()
        self._noted: dict[type[Entity], tuple[Placed, Placed]] = {e: ([], []) for e in entities}
        """By entity: the structures that its items say something for, and that they show."""
        self._marked: list[tuple[int, MarkedStructure]] = []
        for place, structure in enumerate(structures.kept):
            if numbers_alone and not structure.compared.adds:
                continue
            self._noted[structure.source][0].append((place, structure))
            for entity in structure.shown_by:
                self._noted[entity][1].append((place, structure))
            if isinstance(structure, MarkedStructure):
                self._marked.append((place, structure))

    def scan(self, context: Context, found: OnDrift, progress: Progress | None = None) -> Flow[int]:
        """Read everything; items that are wrong in themselves are handed over page by page."""
        scanned = 0
        for table in self.structures.design.tables.values():
            name = context.physical(table.schema)
            walk = Walk("Scan", {"TableName": name, "ConsistentRead": True})
            while not walk.ended:
                answer = yield from walk.next()
                for item in answer["Items"]:
                    wrong = self._note(table, item)
                    if wrong is not None:
                        yield from found(wrong)
                scanned += len(answer["Items"])
                if progress is not None:
                    progress(scanned)
        return scanned

    def _note(self, table: Table, item: WireItem) -> Drift | None:
        spec = self.structures.recognise(table, item)
        if spec is None:
            self._note_foreign(table, item)
            return None
        if not item.keys() <= spec.attributes:
            self.foreign.update((spec.name, name) for name in spec.undeclared_attributes(item))
        try:
            entity: Entity = spec.decode(item)
            wrong = wrong_attributes(spec, entity, item) if self.indexes else None
            said, shown = self._noted[spec.entity]
            if said or shown:
                own = address_bytes(spec.name, key_of(table, item))
                self._note_entity(entity, own, said, shown)
        except KeyfoldError as problem:
            # What it would have said is not known, and it is named itself.
            self.causes.unread.add(spec.entity)
            key = key_of(table, item)
            return Drift("undecodable", spec.name, table.name, key, None, str(problem))
        for audit in self.audits:
            audit.note(entity)
        return wrong

    def _note_entity(self, entity: Entity, own: bytes, said: Placed, shown: Placed) -> None:
        log = self.log
        for place, structure in said:
            for fact in structure.facts(entity):
                address, value = fact.row
                if isinstance(value, Decimal):
                    log.count(place, address, SAID, value, own)
                else:
                    log.add(place, address, SAID, value, own)
        for place, structure in shown:
            for address, value, holder in structure.shows(entity, own):
                if isinstance(value, Decimal):
                    log.count(place, address, FOUND, value, holder)
                else:
                    log.add(place, address, FOUND, value, own)

    def _note_foreign(self, table: Table, item: WireItem) -> None:
        text = item[table.schema.partition].get("S", "")
        for place, structure in self._marked:
            if structure.source.__table__ is table and text.startswith(structure.marked_by):
                address, value = structure.shows_marker(item)
                self.log.add(place, address, FOUND, value, address)
                return
        if not text.startswith((ONCE, MARKERS)):
            self.undeclared += 1
            if len(self.strangers) < STRANGERS:
                self.strangers.append((table.name, key_of(table, item)))


def wrong_attributes(spec: EntitySpec, entity: Entity, item: Mapping[str, Any]) -> Drift | None:
    """How an item's index keys or its own key differ from what its fields say."""
    table = spec.table.schema
    own = spec.key_of(entity.__dict__)
    if not own.items() <= item.items():
        key = key_of(spec.table, item)
        return Drift("key", f"key {spec.name}", table.name, key, own, key)
    if not table.indexes:
        return None
    names = [name for index in table.indexes for name in index.key_attributes]
    whole = spec.index_attributes(entity.__dict__)
    if not {field.attribute for field in spec.fields.values()}.isdisjoint(names):
        whole = {**spec.attributes_of(entity.__dict__), **whole}
    whole |= own
    wanted = {name: whole.get(name) for name in names}
    found = {name: item.get(name) for name in names}
    if wanted == found:
        return None
    differing = [name for name in wanted if wanted[name] != found[name]]
    return Drift(
        "index",
        f"index {spec.name}",
        table.name,
        own,
        {name: wanted[name] for name in differing},
        {name: found[name] for name in differing},
        entity.ref(),
    )


def key_of(table: Table, item: Mapping[str, Any]) -> WireItem:
    return {name: item[name] for name in table.schema.key_attributes}
