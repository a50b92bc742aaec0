"""Key choices for one entity: a base key, a path per demand, and their cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from keyfold.design.schema import Effect, EntitySchema, Placement
from keyfold.prices import SECONDS_A_MONTH
from keyfold_engine.limits import GB, ITEM_COLLECTION_BYTES, STORAGE_OVERHEAD_BYTES
from keyfold_workbench.advise.demand import Demand, Shape, serves, shape_of
from keyfold_workbench.advise.new_names import is_generic
from keyfold_workbench.cost.charge import IN_TRANSACTION
from keyfold_workbench.cost.design_numbers import DesignNumbers
from keyfold_workbench.cost.sample_run import APPEARS
from keyfold_workbench.cost.writes import write

Kind = Literal["base", "global", "local", "lookup", "filter", "scan"]


@dataclass(frozen=True)
class Access:
    """A path to an entity's items."""

    kind: Kind
    shape: Shape
    existing: Placement | None = None

    @property
    def fresh(self) -> bool:
        """Whether reads through it are consistent."""
        if self.kind == "filter":
            return self.existing is None
        return self.kind in ("base", "lookup", "local", "scan")


@dataclass(frozen=True)
class Features:
    """The features of a choice, per second and per month."""

    dollars: float
    stale: float
    """Reads per second served by a global index."""
    lost: float
    """Reads per second that are consistent today and would no longer be."""
    traded: float
    """Dollars saved only because an eventually consistent read costs half."""
    primary: float
    """Reads per second served by the base key."""


@dataclass(frozen=True)
class KeyChoice:
    """One entity's keys; unchanged if `base` is today's shape."""

    entity: str
    base: Access
    paths: tuple[tuple[Demand, Access], ...]
    features: Features
    rekeyed: bool = False
    located_by: Access | None = None
    """Where writes look up the whole key, if their callers only have the old one."""
    kept: bool = field(default=False)

    def of(self, kind: Kind) -> tuple[Access, ...]:
        return tuple(dict.fromkeys(a for _, a in self.paths if a.kind == kind))


class Pricing:
    """Prices of one entity's accesses and writes, each computed once."""

    def __init__(self, figures: DesignNumbers, entity: EntitySchema, demands: list[Demand]) -> None:
        self.figures, self.entity, self.demands = figures, entity, demands
        self.bytes = figures.item_bytes(entity)
        self.items = figures.items(entity)
        self.rates = {demand.name: figures.rate(demand.pattern) for demand in demands}
        self.effects = tuple(self._effects())
        self._entry: dict[Access, float] = {}
        self._reads: dict[tuple[str, Kind], float] = {}
        asked = figures.prices
        self.per_read = asked.read * SECONDS_A_MONTH / 1e6
        self.per_write = asked.write * SECONDS_A_MONTH / 1e6
        self.per_byte = asked.storage / GB
        self.alone = figures.write_units(entity) * sum(rate for _, rate in self.effects)
        self.written = self._written()
        """Write units of its items a second, as its writes are made today."""

    def _effects(self) -> list[tuple[Effect, float]]:
        found: list[tuple[Effect, float]] = []
        for load in self.figures.writes:
            if load.expired:
                continue
            rate = self.figures.write_rate(load).average
            for effect in load.effects:
                if effect.entity == self.entity.name:
                    times = self.figures.each(load) if effect.each else 1.0
                    found.append((effect, rate * times))
        return found

    def _written(self) -> float:
        return sum(
            part.units * self.figures.write_rate(load).average
            for load in self.figures.writes
            if not load.expired
            and any(effect.entity == self.entity.name for effect in load.effects)
            for part in write(self.figures, load).parts
            if part.entity == self.entity.name and part.why == "item" and not part.reading
        )

    def read(self, demand: Demand, kind: Kind) -> float:
        """Units of one call."""
        known = (demand.name, kind)
        if known not in self._reads:
            self._reads[known] = self._read(demand, kind)
        return self._reads[known]

    def _read(self, demand: Demand, kind: Kind) -> float:
        if kind == "scan":
            return self.figures.many_read_units(self.entity, self.items, consistent=False)
        if kind == "filter":
            return self._filter_units(demand)
        consistent = demand.consistent and kind != "global"
        if demand.single:
            return self.figures.read_units(self.entity, consistent=consistent)
        matched = self.figures.matched(self.entity, demand.given)
        taken = matched
        if demand.pattern.kind != "count":
            taken = min(matched, self.figures.page(demand.pattern))
        return self.figures.many_read_units(self.entity, taken, consistent=consistent)

    def _filter_units(self, demand: Demand) -> float:
        """Units of a read whose filter discards items."""
        asked = tuple(field for field in demand.given if field not in demand.filtered)
        found = self.figures.matched(self.entity, asked)
        share = self.figures.matched(self.entity, demand.given) / found if found else 1.0
        taken = min(found, self.figures.page(demand.pattern) / max(share, 1e-9))
        return self.figures.many_read_units(self.entity, taken, consistent=demand.consistent)

    def entry(self, access: Access) -> float:
        """Write units per second of one further path, outside a transaction."""
        if access not in self._entry:
            self._entry[access] = sum(
                rate * self._entry_of(access, effect) for effect, rate in self.effects
            )
        return self._entry[access]

    def _entry_of(self, access: Access, effect: Effect) -> float:
        if access.kind == "lookup":
            return self.figures.write_units(self.entity)
        moved = effect.action != "update" or bool({*effect.fields} & {*access.shape.fields})
        return self.figures.entry_units(self.entity, None, effect.action, moved=moved, changed=True)

    def features(
        self, paths: tuple[tuple[Demand, Access], ...], located_by: Access | None
    ) -> Features:
        reads = stale = lost = traded = primary = 0.0
        for demand, access in paths:
            rate = self.rates[demand.name].average
            units = self.read(demand, access.kind)
            reads += rate * units
            through = access.kind == "filter" and access.existing is not None
            primary += rate if access.kind in ("base", "filter") and not through else 0.0
            if access.kind == "global" or through:
                stale += rate
                if demand.consistent:
                    # Patterns that are never called must stay served too.
                    lost += max(rate, SELDOM)
                    traded += rate * (self.read(demand, "base") - units)
        extra = dict.fromkeys(a for _, a in paths if a.kind in ("global", "local", "lookup"))
        written = self.written
        if any(access.kind == "lookup" for access in extra):
            # The copy by another key joins its transaction.
            written = max(written, IN_TRANSACTION * self.alone)
        factor = written / self.alone if self.alone else 1.0
        written += sum(self.entry(access) * factor for access in extra if access.kind != "global")
        written += sum(self.entry(access) for access in extra if access.kind == "global")
        if located_by is not None:
            found = sum(rate for effect, rate in self.effects if effect.action not in APPEARS)
            fresh = located_by.fresh
            reads += found * self.figures.read_units(self.entity, consistent=fresh)
            stale += 0.0 if fresh else found
        stored = self.items * (self.bytes + STORAGE_OVERHEAD_BYTES) * (1 + len(extra))
        dollars = reads * self.per_read + written * self.per_write + stored * self.per_byte
        return Features(dollars, stale, lost, traded * self.per_read, primary)

    # Candidates

    @property
    def identity(self) -> tuple[str, ...]:
        """The fewest fields known to identify items; without them in a key, items collide."""
        for field_ in self.entity.by_field:
            if self.figures.is_own_id(self.entity, field_):
                return (field_,)
        return tuple(dict.fromkeys(self.entity.key.fields)) if self.entity.key else ()

    def bases(self, *, pinned: bool) -> list[Access]:
        """Base keys worth trying, today's first."""
        assert self.entity.key is not None, f"{self.entity.name} has no key"
        found = [Access("base", shape_of(self.entity.key))]
        if pinned:
            return found
        for demand in self.demands:
            shape = self._base(demand)
            if shape is not None and all(shape != known.shape for known in found):
                found.append(Access("base", shape))
        return found

    def _base(self, demand: Demand) -> Shape | None:
        wanted = self._shape(demand)
        ties = tuple(f for f in self.identity if f not in wanted.fields)
        shape = Shape(wanted.partition, wanted.sort + ties)
        few = demand.constant or any(
            self.figures.distinct(self.entity, (f,)) < _FEW for f in wanted.partition
        )
        if few or any(self.changes(f) for f in shape.fields):
            return None
        optional = (self.entity.by_field.get(f) for f in shape.fields)
        return None if any(a is not None and a.optional for a in optional) else shape

    def _shape(self, demand: Demand) -> Shape:
        """The key that serves a demand and nothing more."""
        key = self.entity.key
        partition: tuple[str, ...] = demand.given
        own = [p.key for p in self.entity.placements if p.index == demand.pattern.index]
        today = own[0] if demand.pattern.index and own else key
        if today is not None and set(today.partition.fields) <= set(demand.given):
            partition = today.partition.fields
        rest = tuple(f for f in demand.given if f not in partition)
        return Shape(partition, rest + ((demand.order,) if demand.order else ()))

    def changes(self, field_: str) -> bool:
        """Whether a field's value changes after creation."""
        attribute = self.entity.by_field.get(field_)
        if attribute is None or not attribute.mutable or self.entity.immutable:
            return False
        updates = [effect for effect, _ in self.effects if effect.action == "update"]
        if any(field_ in effect.fields for effect in updates):
            return True
        fixed = attribute.refers or field_.casefold().endswith("id") or "creat" in field_.casefold()
        return not fixed and any(not effect.fields for effect in updates)

    def ways(self, demand: Demand, base: Access, *, rebuilt: bool, lookups: bool) -> list[Access]:
        """The ways to serve a demand besides a base key."""
        if serves(base.shape, demand):
            return [base]
        found: list[Access] = []
        table = self.figures.schema.by_table[self.entity.table]
        for placement in self.entity.placements:
            index = table.index(placement.index)
            shape = shape_of(placement.key)
            if index is not None and serves(shape, demand):
                same = shape.partition == base.shape.partition
                if not index.local or same:
                    kind: Kind = "local" if index.local else "global"
                    found.append(Access(kind, shape, placement))
        shape = self._shape(demand)
        if not found:
            found.append(Access("global", shape))
        moves = rebuilt and not is_generic(self.figures.schema, table)
        # A local index can only be created with its table.
        if moves and base.shape.sort and shape.partition == base.shape.partition:
            collected = self.figures.matched(self.entity, shape.partition) * self.bytes
            if collected < ITEM_COLLECTION_BYTES / 4:
                found.append(Access("local", shape))
        if (demand.consistent or lookups) and self.entity.copy is None and not demand.constant:
            ties = () if demand.single else tuple(f for f in self.identity if f not in shape.fields)
            found.append(Access("lookup", Shape(shape.partition, shape.sort + ties)))
        return found


_FEW = 20
SELDOM = 1e-9

__all__ = ["Access", "Features", "KeyChoice", "Kind", "Pricing"]
