"""The scan of a verification: records what each item says and shows."""

from __future__ import annotations

import gc
from collections import Counter as Tally
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from keyfold.design.design import Declarations
from keyfold.design.entity import Entity
from keyfold.design.entity_spec import EntitySpec
from keyfold.design.table import Table
from keyfold.errors import KeyfoldError
from keyfold.maintain.address import address_bytes
from keyfold.maintain.drift import SET_IT, Drift
from keyfold.maintain.fact import MARKERS
from keyfold.maintain.row_log import FactComparison, RowLog
from keyfold.maintain.structure import Audited, Causes, FeedAudit, KeptStructure, MarkedStructure
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Flow
from keyfold.runtime.idempotency import PREFIX as ONCE
from keyfold.runtime.walk import Walk

WireItem = dict[str, Any]
Progress = Callable[[int], None]
Placed = list[tuple[int, KeptStructure]]
OnDrift = Callable[[Drift], Flow[None]]

_COLLECTED_EVERY: Final = 50_000
"""New objects between two garbage collections; by default 700."""
STRANGERS: Final = 100
"""How many undeclared items are listed; all are counted."""


class Structures:
    """The structures of a design that a verification checks."""

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
                # A declaration that is maintained in two ways has its facts once.
                seen.add((one.owner, one.kind))
                self.kept.append(one)

    @property
    def comparisons(self) -> list[FactComparison]:
        return [structure.compared for structure in self.kept]


class Recognition:
    """The entity that an item of one table belongs to."""

    def __init__(self, table: Table) -> None:
        self._attribute = table.schema.type_attribute or ""
        self._specs = [entity.__spec__ for entity in table.entities]
        self._by_type = {spec.type_name: spec for spec in self._specs}

    def of(self, item: WireItem) -> EntitySpec | None:
        """None for items that no entity declares."""
        if self._attribute in item:
            spec = self.named(item)
            return spec if spec is not None and spec.home.holds(item) else None
        return next((spec for spec in self._specs if spec.recognises(item)), None)

    def named(self, item: WireItem) -> EntitySpec | None:
        """The entity whose type an item has, wherever it is stored."""
        return self._by_type.get(item.get(self._attribute, {}).get("S", ""))


class _Noted:
    """What items of one entity tell a verification."""

    def __init__(self) -> None:
        self.counted: Placed = []
        """The structures for which they add to numbers."""
        self.said: Placed = []
        """The others for which they say something."""
        self.shown: Placed = []
        """The structures of which they show something."""

    @property
    def tells(self) -> bool:
        return bool(self.counted or self.said or self.shown)

    def note(self, log: RowLog, entity: Entity, table: Table, item: WireItem) -> None:
        for place, structure in self.counted:
            for amount in structure.facts(entity):
                if not log.count(place, amount):
                    log.count_first(place, amount, own_address(entity, table, item))
        if not (self.said or self.shown):
            return
        own = own_address(entity, table, item)
        for place, structure in self.said:
            for fact in structure.facts(entity):
                address, value = fact.row
                log.say(place, address, value, own)
        for place, structure in self.shown:
            for address, value, holder in structure.shows(entity, own):
                log.show(place, address, value, holder)


def own_address(entity: Entity, table: Table, item: WireItem) -> bytes:
    return address_bytes(entity.__spec__.name, key_of(table, item))


class FactSurvey:
    """One scan of all tables, or of those that the chosen structures or numbers need."""

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
        self.elsewhere: Tally[str] = Tally()
        entities = structures.design.entities.values()
        self._noted = {entity: _Noted() for entity in entities}
        self._marked: list[tuple[int, MarkedStructure]] = []
        for place, structure in enumerate(structures.kept):
            if numbers_alone and not structure.compared.adds:
                continue
            noted = self._noted[structure.source]
            (noted.counted if structure.compared.adds else noted.said).append((place, structure))
            for entity in structure.shown_by:
                self._noted[entity].shown.append((place, structure))
            if isinstance(structure, MarkedStructure):
                self._marked.append((place, structure))

    @property
    def tables(self) -> list[Table]:
        """The tables with items that say or show something; a whole verification reads all."""
        all_tables = list(self.structures.design.tables.values())
        if self.indexes or self.audits:
            return all_tables
        telling = {entity.__table__ for entity, one in self._noted.items() if one.tells}
        return [table for table in all_tables if table in telling]

    def scan(self, context: Context, found: OnDrift, progress: Progress | None = None) -> Flow[int]:
        """Scan everything; items that are wrong by themselves are reported page by page."""
        # Items have no reference cycles: examine only new objects, and these rarely.
        gc.freeze()
        thresholds = gc.get_threshold()
        gc.set_threshold(_COLLECTED_EVERY, *thresholds[1:])
        try:
            return (yield from self._scan(context, found, progress))
        finally:
            gc.set_threshold(*thresholds)
            gc.unfreeze()

    def _scan(self, context: Context, found: OnDrift, progress: Progress | None) -> Flow[int]:
        scanned = 0
        for table in self.tables:
            name = context.physical(table.schema)
            recognition = Recognition(table)
            walk = Walk("Scan", {"TableName": name, "ConsistentRead": True})
            while not walk.ended:
                answer = yield from walk.next()
                for item in answer["Items"]:
                    spec = recognition.of(item)
                    named = None if spec is not None else recognition.named(item)
                    if named is not None:
                        self.elsewhere[named.name] += 1
                        continue
                    wrong = self._note(table, spec, item)
                    if wrong is not None:
                        yield from found(wrong)
                scanned += len(answer["Items"])
                if progress is not None:
                    progress(scanned)
        return scanned

    def _note(self, table: Table, spec: EntitySpec | None, item: WireItem) -> Drift | None:
        if spec is None:
            self._note_foreign(table, item)
            return None
        if not item.keys() <= spec.attributes:
            self.foreign.update((spec.name, name) for name in spec.undeclared_attributes(item))
        try:
            entity: Entity = spec.decode(item)
            wrong = wrong_attributes(spec, entity, item) if self.indexes else None
            self._noted[spec.entity].note(self.log, entity, table, item)
        except KeyfoldError as problem:
            # Its facts are unknown, and it is reported itself.
            self.causes.unread.add(spec.entity)
            key = key_of(table, item)
            return Drift("undecodable", spec.name, table.name, key, None, str(problem))
        for audit in self.audits:
            audit.note(entity)
        return wrong

    def _note_foreign(self, table: Table, item: WireItem) -> None:
        text = item[table.schema.partition].get("S", "")
        for place, structure in self._marked:
            if structure.source.__table__ is table and structure.marks(item):
                address, value = structure.shows_marker(item)
                self.log.show(place, address, value, None)
                return
        if not text.startswith((ONCE, MARKERS)):
            self.undeclared += 1
            if len(self.strangers) < STRANGERS:
                self.strangers.append((table.name, key_of(table, item)))


def wrong_attributes(spec: EntitySpec, entity: Entity, item: Mapping[str, Any]) -> Drift | None:
    """How an item's key or index keys differ from its fields."""
    table = spec.table.schema
    own = spec.key_of(entity.__dict__)
    if not own.items() <= item.items():
        key = key_of(spec.table, item)
        return Drift("key", f"key {spec.name}", table.name, key, own, key)
    if not table.indexes:
        return None
    names = spec.index_key_attributes
    whole = spec.index_attributes(entity.__dict__)
    if not spec.by_attribute.keys().isdisjoint(names):
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
        remedy=SET_IT,
    )


def key_of(table: Table, item: Mapping[str, Any]) -> WireItem:
    return {name: item[name] for name in table.schema.key_attributes}
