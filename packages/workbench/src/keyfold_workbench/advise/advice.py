"""Advice: designs that serve the same patterns better, ranked, with gains and losses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from keyfold.design.schema import Schema
from keyfold.prices import SECONDS_A_MONTH
from keyfold_workbench.advise.choice import KeyChoice
from keyfold_workbench.advise.differences import differences, lost_reads
from keyfold_workbench.advise.listing import list_by_index
from keyfold_workbench.advise.move import NOTHING, PAYS_WITHIN, DataMove, move
from keyfold_workbench.advise.proof import Proof, entities_concerned
from keyfold_workbench.advise.redesign import redesign
from keyfold_workbench.advise.refinement import refine
from keyfold_workbench.advise.search import STRATEGIES, Search, Strategy
from keyfold_workbench.advise.suggestions import suggestions
from keyfold_workbench.cost.bill import Bill
from keyfold_workbench.cost.billing import bill
from keyfold_workbench.cost.design_numbers import DesignNumbers
from keyfold_workbench.cost.workload import Workload

LOST = 10.0
"""In the ranking, a lost consistent read weighs as much as this many reads."""
COPY_UPKEEP, INDEX_UPKEEP = 0.06, 0.01
"""In the ranking, everything that must be maintained weighs this share of today's bill."""
ROUND_TRIP = 0.25
"""In the ranking, a request weighs this many read units, for its latency."""
OVERLOAD = 1.0
"""In the ranking, an overloaded key weighs this share of the bill."""
TRIES = 12


@dataclass(frozen=True)
class Alternative:
    """One possible design, with its cost and its changes."""

    name: str
    aim: str
    schema: Schema
    bill: Bill
    choices: Mapping[str, KeyChoice]
    located: float = 0.0
    """Dollars per month for reads that find a key before a write."""
    score: float = 0.0
    gains: tuple[str, ...] = ()
    losses: tuple[str, ...] = ()
    moved: DataMove = NOTHING
    payback: float | None = 0.0
    """Months until the move pays for itself; None if it does not in dollars."""
    pays: bool = True
    """Whether there is a reason to move the data."""

    @property
    def dollars(self) -> float:
        return self.bill.dollars + self.located


@dataclass(frozen=True)
class Advice:
    """The current design and the alternatives, best first."""

    before: Alternative
    alternatives: tuple[Alternative, ...]
    search: Search
    suggestions: tuple[str, ...] = ()
    """What would help besides other keys."""

    @property
    def best(self) -> Alternative:
        return self.alternatives[0]


def advise(schema: Schema, workload: Workload) -> Advice:
    """Search for better designs and prove that they serve every pattern."""
    figures = DesignNumbers(schema, workload)
    search, proof = Search(figures), Proof(schema)
    today = bill(schema, workload)
    kept = Alternative("as it is", "nothing changes", schema, today, {})
    found = [replace(kept, score=_score(kept, kept, workload))]
    for strategy in STRATEGIES:
        made = _alternative(search, proof, workload, strategy)
        if made is None or any(_is_same_design(made.schema, other.schema) for other in found):
            continue
        found.append(_compare(made, kept, workload))
    ranked = tuple(sorted(found, key=lambda each: (not each.pays, each.score)))
    return Advice(kept, ranked, search, suggestions(ranked[0].bill, workload))


def _compare(made: Alternative, before: Alternative, workload: Workload) -> Alternative:
    gains, losses = differences(before.bill, made.bill, made.choices)
    scored = replace(made, gains=gains, losses=losses)
    moved = move(before.bill, made.bill, workload)
    payback = moved.payback(before.dollars - made.dollars)
    return replace(
        scored,
        score=_score(scored, before, workload),
        moved=moved,
        payback=payback,
        pays=_pays(payback, before, scored, workload),
    )


def _pays(
    payback: float | None, before: Alternative, after: Alternative, workload: Workload
) -> bool:
    """Whether moving data is justified: by dollars, by unserved patterns, by heat, or by
    consistent reads if the workload states the cost of a stale one.
    """
    if payback is not None and payback <= PAYS_WITHIN:
        return True
    if len(after.bill.overloads) < len(before.bill.overloads):
        return True
    if workload.stale_read is None:
        return False
    stale = before.bill.consistent_share < after.bill.consistent_share
    return bool(workload.stale_read) and stale


def _alternative(
    search: Search, proof: Proof, workload: Workload, strategy: Strategy
) -> Alternative | None:
    """The best design that a strategy finds and the reviewer accepts."""
    kept: set[str] = set()
    schema = proof.before
    for _ in range(TRIES):
        choices = search.choose(strategy, kept)
        made = redesign(schema, choices)
        made = refine(schema, list_by_index(made, workload), workload)
        against = proof.against(made)
        if not against:
            after = bill(made, workload)
            located = _lookup_dollars(search, choices)
            return Alternative(strategy.name, strategy.aim, made, after, choices, located)
        blamed = {name for finding in against for name in entities_concerned(finding, schema)}
        blamed &= {name for name, choice in choices.items() if not choice.kept}
        if not blamed:
            return None
        kept |= blamed
    return None


def _is_same_design(one: Schema, other: Schema) -> bool:
    return (set(one.tables), set(one.entities), set(one.patterns)) == (
        set(other.tables),
        set(other.entities),
        set(other.patterns),
    )


def _lookup_dollars(search: Search, choices: Mapping[str, KeyChoice]) -> float:
    dollars = 0.0
    for name, choice in choices.items():
        if choice.located_by is None:
            continue
        pricing = search.pricing(name)
        rate = sum(r for effect, r in pricing.effects if effect.action not in ("create", "put"))
        fresh = choice.located_by.fresh
        units = pricing.figures.read_units(pricing.entity, consistent=fresh)
        dollars += rate * units * pricing.per_read
    return dollars


def _score(made: Alternative, before: Alternative, workload: Workload) -> float:
    """Dollars, plus the assumed cost of stale and lost reads."""
    per_read = made.bill.prices.read * SECONDS_A_MONTH / 1e6
    stale = made.bill.reads * (1 - made.bill.consistent_share)
    lost = sum(rate for _, rate in lost_reads(before.bill, made.bill))
    upkeep = made.bill.copies * COPY_UPKEEP + made.bill.indexes * INDEX_UPKEEP
    upkeep += len(made.bill.overloads) * OVERLOAD
    asked = made.bill.requests * ROUND_TRIP
    weighed = (stale * workload.stale_weight + lost * LOST + asked) * per_read
    return made.dollars + weighed + upkeep * before.dollars
