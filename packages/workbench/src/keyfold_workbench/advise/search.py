"""The search: the keys and paths that serve each entity's demands best."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from keyfold.design.schema import EntitySchema
from keyfold_workbench.advise.choice import Access, Features, KeyChoice, Pricing
from keyfold_workbench.advise.demand import Demand, Demands, serves, shape_of
from keyfold_workbench.cost.design_numbers import DesignNumbers

BEAM = 10
WORTH = 0.97
"""A change must lower the score to this share; keys are not moved for pennies."""
DOMINANT = 2.0
"""A new key must serve this multiple of the reads that today's key serves."""


@dataclass(frozen=True)
class Strategy:
    """The goals of a search."""

    name: str
    aim: str
    stale: float = 1.0
    """The extra weight of a stale read beyond the workload's."""
    may_lose: bool = False
    """Whether consistent reads may become eventually consistent."""
    moves: bool = True
    """Whether base keys may change."""
    lookups: bool = False
    """Whether copies by another key may replace any index, rather than only save consistent
    reads.
    """
    copies: bool = True
    """Whether copies by another key may be made at all."""


STRATEGIES = (
    Strategy("balanced", "the main reads from the key, no consistent read lost"),
    Strategy("cheapest", "the fewest dollars, whatever the reads see", stale=0.0, may_lose=True),
    Strategy(
        "without copies",
        "the main reads from the key, the others through an index",
        may_lose=True,
        copies=False,
    ),
    Strategy("in place", "no key changes, so nothing has to be moved", moves=False),
    Strategy("consistent", "as few reads through an index as possible", stale=25.0, lookups=True),
)


class Search:
    """Choices for all entities of a design."""

    def __init__(self, figures: DesignNumbers) -> None:
        self.figures, self.schema = figures, figures.schema
        self.demands = Demands(figures)
        self._pricing = {
            entity.name: Pricing(figures, entity, self.demands.by_entity[entity.name])
            for entity in self.schema.entities
            if entity.key is not None
        }

    def pricing(self, name: str) -> Pricing:
        return self._pricing[name]

    def choose(self, strategy: Strategy, kept: Iterable[str] = ()) -> dict[str, KeyChoice]:
        """The best choice for each entity; `kept` ones are not changed."""
        untouched = set(kept)
        found: dict[str, KeyChoice] = {}
        for name, pricing in self._pricing.items():
            today = self.today(name)
            found[name] = today if name in untouched else self._best(pricing, strategy, today)
        return found

    def today(self, name: str) -> KeyChoice:
        """An entity as it is today."""
        pricing = self._pricing[name]
        key = pricing.entity.key
        assert key is not None, f"{name} has no key"
        base = Access("base", shape_of(key))
        paths = tuple(
            (demand, self._path(pricing.entity, demand, base)) for demand in pricing.demands
        )
        return KeyChoice(name, base, paths, pricing.features(paths, None), kept=True)

    def _path(self, entity: EntitySchema, demand: Demand, base: Access) -> Access:
        if not demand.served:
            return Access("scan", base.shape)
        if demand.filtered:
            placed = entity.placement(demand.pattern.index) if demand.pattern.index else ()
            return Access("filter", base.shape, placed[0] if placed else None)
        if demand.pattern.index is None:
            return base
        table = self.schema.by_table[entity.table]
        index = table.index(demand.pattern.index)
        placed = entity.placement(demand.pattern.index)
        local = index is not None and index.local
        if not placed:
            return Access("global", base.shape)
        return Access("local" if local else "global", shape_of(placed[0].key), placed[0])

    def score(self, features: Features, strategy: Strategy, pricing: Pricing) -> float:
        units = self.figures.workload.stale_weight * strategy.stale
        score = features.dollars + features.traded + features.stale * units * pricing.per_read
        return score if strategy.may_lose or not features.lost else score + 1e9

    def _best(self, pricing: Pricing, strategy: Strategy, today: KeyChoice) -> KeyChoice:
        if not pricing.demands:
            return today
        name = pricing.entity.name
        pinned = None in self.demands.pinned[name] or not strategy.moves
        best, least = today, self.score(today.features, strategy, pricing)
        needed = any(not demand.served for demand in pricing.demands)
        limit = float("inf") if needed else least * WORTH
        for base in pricing.bases(pinned=pinned):
            made = self._assign(pricing, strategy, base, today)
            if made is None or not self._dominates(made, today):
                continue
            score = self.score(made.features, strategy, pricing)
            if score < limit:
                best, limit = made, score
        return best

    def _dominates(self, made: KeyChoice, today: KeyChoice) -> bool:
        """A table's own key serves the dominant reads; others do not move it."""
        return not made.rekeyed or made.features.primary > DOMINANT * today.features.primary

    def _assign(
        self, pricing: Pricing, strategy: Strategy, base: Access, today: KeyChoice
    ) -> KeyChoice | None:
        rekeyed = base.shape != today.base.shape
        partial: list[tuple[tuple[Demand, Access], ...]] = [()]
        busiest = sorted(pricing.demands, key=lambda demand: -pricing.rates[demand.name].average)
        for demand in busiest:
            ways = pricing.ways(demand, base, rebuilt=rekeyed, lookups=strategy.lookups)
            if not strategy.copies:
                ways = [way for way in ways if way.kind != "lookup"]
            if not rekeyed and demand.served:
                ways = list(dict.fromkeys([dict(today.paths)[demand], *ways]))
            grown = [(*paths, (demand, way)) for paths in partial for way in ways]
            grown += [
                (*paths, (demand, access))
                for paths in partial
                for access in {a for _, a in paths}
                if access not in ways and serves(access.shape, demand)
            ]
            grown.sort(
                key=lambda paths: self.score(pricing.features(paths, None), strategy, pricing)
            )
            partial = grown[:BEAM]
        finished = [self._finish(pricing, base, paths, today, rekeyed) for paths in partial]
        usable = [choice for choice in finished if choice is not None]
        if not usable:
            return None
        return min(usable, key=lambda choice: self.score(choice.features, strategy, pricing))

    def _finish(
        self,
        pricing: Pricing,
        base: Access,
        paths: tuple[tuple[Demand, Access], ...],
        today: KeyChoice,
        rekeyed: bool,
    ) -> KeyChoice | None:
        located = None
        changed = any(effect.action not in ("create", "put") for effect, _ in pricing.effects)
        if rekeyed and changed and not set(base.shape.fields) <= set(today.base.shape.fields):
            known = set(today.base.shape.fields)
            ways = [a for _, a in paths if set(a.shape.partition) <= known and a != base]
            if not ways:
                return None
            located = min(ways, key=lambda access: not access.fresh)
        features = pricing.features(paths, located)
        choice = KeyChoice(pricing.entity.name, base, paths, features, rekeyed, located)
        same = not rekeyed and set(paths) == set(today.paths)
        return replace(choice, kept=same)
