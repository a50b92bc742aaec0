"""The adviser on a large design: 50 entities, 200 access patterns, a rate for each."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack

from bench.harness import Budget, Case, Outcome, summed_up
from keyfold.design.file import loads
from keyfold.review import keyspace
from keyfold.review.check import RULES, check
from keyfold_workbench.advise import advise
from keyfold_workbench.advise.advice import Alternative
from keyfold_workbench.cost import loads as workload

ENTITIES = 50
PARENTS = ("owner", "group", "city")
GOAL_SECONDS = 30
CHECK_SECONDS = 1


def of_own_tables() -> str:
    """Each entity in a table by its id, an index for each parent, and some that nobody reads."""
    tables, entities, patterns = ["tables:"], ["entities:"], ["patterns:"]
    for number in range(ENTITIES):
        name, own = f"Thing{number}", f"thing{number}Id"
        tables += [f"  Table{number}:", f"    key: [{own}]", "    indexes:"]
        tables += [f"      {parent}-index: {{key: [{parent}Id, createdAt]}}" for parent in PARENTS]
        if number % 5 == 0:
            tables.append("      unread-index: {key: [createdAt]}")
        entities += [
            f"  {name}:",
            f"    table: Table{number}",
            f"    key: {{{own}: <{own}>}}",
            f"    attributes: {{{own}: id, {_PARENT_IDS}, createdAt: fixed timestamp}}",
        ]
        patterns.append(
            f'  get {number}: {{get: {name}, where: "{own} = <{own}>", consistent: false}}'
        )
        patterns += [
            f"  {parent} {number}: {{query: {name}, index: {parent}-index, "
            f'where: "{parent}Id = <{parent}Id>"}}'
            for parent in PARENTS
        ]
    return "\n".join(["design: large", *tables, *entities, *patterns])


def of_one_table() -> str:
    """All entities in one table, with overloaded indexes."""
    tables = ["tables:", "  Everything:", "    key: [PK, SK]", "    indexes:"]
    entities, patterns = ["entities:"], ["patterns:"]
    for place in range(len(PARENTS)):
        tables.append(f"      GSI{place}: {{key: [GSI{place}PK, GSI{place}SK]}}")
    for number in range(ENTITIES):
        name, own = f"Thing{number}", f"thing{number}Id"
        entities += [
            f"  {name}:",
            "    table: Everything",
            f"    key: {{PK: 'T{number}#<{own}>', SK: 'T{number}'}}",
            f"    attributes: {{{own}: id, {_PARENT_IDS}, createdAt: fixed timestamp}}",
            "    indexes:",
        ]
        patterns.append(
            f"  get {number}: {{get: {name}, consistent: false, "
            f"where: \"PK = 'T{number}#<{own}>', SK = 'T{number}'\"}}"
        )
        for place, parent in enumerate(PARENTS):
            partition = f"T{number}{parent.upper()}#<{parent}Id>"
            entities.append(
                f"      GSI{place}: {{GSI{place}PK: '{partition}', GSI{place}SK: 'T#<createdAt>'}}"
            )
            patterns.append(
                f"  {parent} {number}: {{query: {name}, index: GSI{place}, "
                f"where: \"GSI{place}PK = '{partition}'\"}}"
            )
    return "\n".join(["design: large", *tables, *entities, *patterns])


_PARENT_IDS = ", ".join(f"{parent}Id: id" for parent in PARENTS)


def rates() -> str:
    """Each entity is asked for in one way above all, and another one for each."""
    lines = ["patterns:"]
    for number in range(ENTITIES):
        ways = ("get", *PARENTS)
        for place, way in enumerate(ways):
            rate = 400 if place == number % len(ways) else 1 + number % 7
            lines.append(f"  {way} {number}: {{rate: {rate}}}")
    lines.append("writes:")
    lines += [f"  create Thing{number}: {{rate: {1 + number % 5}}}" for number in range(ENTITIES)]
    return "\n".join(lines)


def run(_: ExitStack, __: Budget) -> Iterator[Outcome]:
    for title, text in (("tables of their own", of_own_tables()), ("one table", of_one_table())):
        schema = loads(text)
        load = workload(rates(), schema)
        started = time.perf_counter()
        advice = advise(schema, load)
        seconds = time.perf_counter() - started
        patterns = len(schema.patterns)
        outcome = summed_up(
            "advise",
            f"advise, {ENTITIES} entities and {patterns} patterns, {title}",
            {"keyfold": [1e6 * seconds]},
            "keyfold",
        )
        outcome.goal = f"under {GOAL_SECONDS} seconds"
        outcome.met = seconds < GOAL_SECONDS
        outcome.figures = {
            "alternatives": len(advice.alternatives),
            "before": _figures(advice.before),
            "the best": _figures(advice.best),
        }
        yield outcome


def run_check(_: ExitStack, budget: Budget) -> Iterator[Outcome]:
    text = of_one_table()
    schema = loads(text)
    times = {"read the file": lambda: loads(text), "check": lambda: check(loads(text))}
    samples = {
        title: [_microseconds(work) for _ in range(max(3, budget.rounds))]
        for title, work in times.items()
    }
    outcome = summed_up(
        "check",
        f"check a design file, {ENTITIES} entities and {len(schema.patterns)} patterns",
        samples,
        "check",
    )
    slowest = max(samples["check"])
    outcome.goal = f"under {CHECK_SECONDS} second after import"
    outcome.met = slowest < 1e6 * CHECK_SECONDS
    outcome.figures = {"findings": len(check(schema).findings), "rules": len(RULES)}
    yield outcome


def _microseconds(work: Callable[[], object]) -> float:
    # What was computed for other designs must not help.
    keyspace.forget()
    started = time.perf_counter()
    work()
    return 1e6 * (time.perf_counter() - started)


def _figures(one: Alternative) -> str:
    bill = one.bill
    return f"${bill.dollars:,.0f} a month, {bill.indexes} indexes, {bill.index_share:.0%} by them"


CASES = [
    Case("advise", "The adviser on a large design", run),
    Case("check", "The reviewer on a large design", run_check),
]
