"""Results as JSON, as a table, as plots, and in the README."""

from __future__ import annotations

import json
import os
import platform
import re
from collections.abc import Collection, Sequence
from dataclasses import asdict
from pathlib import Path

from bench.harness import Outcome, Row
from bench.plot import bars

RESULTS = Path(__file__).parent / "results"
README = Path(__file__).parents[1] / "README.md"
# The least that anybody can take: nobody would use these instead.
LIMITS = frozenset({"a bare interpreter", "raw client call"})
START, END = "<!-- bench:start -->", "<!-- bench:end -->"


def write(measured: Sequence[Outcome], command: str, cases: Collection[str]) -> None:
    """Write everything that a run gives; the other cases keep what they had."""
    RESULTS.mkdir(exist_ok=True)
    ran = {outcome.case for outcome in measured}
    kept = [outcome for outcome in _latest() if outcome.case in cases and outcome.case not in ran]
    outcomes = sorted([*kept, *measured], key=lambda outcome: outcome.case)
    machine = (
        f"Python {platform.python_version()}, {platform.system()} {platform.machine()}, "
        f"{os.cpu_count()} cores, load {os.getloadavg()[1]:.0f}"
    )
    commands = {**_kept("commands", cases), **dict.fromkeys(sorted(ran), command)}
    machines = {**dict.fromkeys(commands, _kept_machine()), **_kept("machines", cases)}
    machines |= dict.fromkeys(sorted(ran), machine)
    document = {
        "commands": commands,
        "machines": machines,
        "machine": machine,
        "outcomes": [asdict(outcome) for outcome in outcomes],
    }
    (RESULTS / "latest.json").write_text(json.dumps(document, indent=1) + "\n")
    (RESULTS / "latest.md").write_text(
        "\n".join(
            [
                "# Benchmarks",
                "",
                *(
                    f"- {case}: `{made_by}`, {machines[case]}"
                    for case, made_by in sorted(commands.items())
                ),
                "",
                table(outcomes),
                "",
            ]
        )
    )
    for stale in RESULTS.glob("*.svg"):
        stale.unlink()
    for outcome in outcomes:
        if outcome.rows:
            name = re.sub(r"\W+", "-", f"{outcome.case}-{outcome.title}".lower()).strip("-")
            (RESULTS / f"{name}.svg").write_text(bars(outcome.title, outcome.rows))
    _into_readme(outcomes)


def _kept(what: str, cases: Collection[str]) -> dict[str, str]:
    """What is known of the last results of each case: its command, and its machine."""
    path = RESULTS / "latest.json"
    known = json.loads(path.read_text()).get(what, {}) if path.exists() else {}
    return {case: told for case, told in known.items() if case in cases}


def _kept_machine() -> str:
    path = RESULTS / "latest.json"
    return str(json.loads(path.read_text())["machine"]) if path.exists() else ""


def _latest() -> list[Outcome]:
    path = RESULTS / "latest.json"
    if not path.exists():
        return []
    found = json.loads(path.read_text())["outcomes"]
    return [Outcome(**{**one, "rows": [Row(**row) for row in one["rows"]]}) for one in found]


def table(outcomes: Sequence[Outcome]) -> str:
    """One line a side, with its ratio to the reference."""
    lines = [
        "| case | side | µs per operation | ratio | goal |",
        "| --- | --- | ---: | ---: | --- |",
    ]
    for outcome in outcomes:
        ours = [row for row in outcome.rows if row.side.startswith("keyfold")]
        for row in sorted(outcome.rows, key=lambda row: row.median):
            goal = _goal(outcome) if row in ours[:1] else ""
            shown = f"{row.median:,.1f} ±{50 * row.spread:.0f}%"
            lines.append(f"| {outcome.title} | {row.side} | {shown} | {row.ratio:.2f} | {goal} |")
        for name, value in outcome.figures.items():
            lines.append(f"| {outcome.title} | {name} | {value} | | |")
        for reason in outcome.missing:
            lines.append(f"| {outcome.title} | missing: {reason} | | | |")
    return "\n".join(lines)


def _goal(outcome: Outcome) -> str:
    if outcome.met is None:
        return outcome.goal
    return f"{outcome.goal}: {'met' if outcome.met else 'not met'}"


def _into_readme(outcomes: Sequence[Outcome]) -> None:
    text = README.read_text()
    head, _, rest = text.partition(START)
    _, _, tail = rest.partition(END)
    lines = ["| | keyfold | beside | |", "| --- | ---: | ---: | --- |"]
    for outcome in outcomes:
        ours = [row for row in outcome.rows if row.side.startswith("keyfold")]
        others = [
            row
            for row in outcome.rows
            if not row.side.startswith("keyfold") and row.side not in LIMITS
        ]
        if not ours or not others:
            continue
        best = min(others, key=lambda row: row.median)
        factor = best.median / ours[0].median
        beside = f"{best.side} {best.median:,.1f} µs"
        lines.append(f"| {outcome.title} | {ours[0].median:,.1f} µs | {beside} | {factor:.2f}x |")
    README.write_text(f"{head}{START}\n" + "\n".join(lines) + f"\n{END}{tail}")
