"""Results as JSON, as a table, in the README and in docs/performance.md."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Collection, Sequence
from dataclasses import asdict
from pathlib import Path

from bench.harness import Outcome, Row
from bench.peers import versions

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results"
START, END = "<!-- bench:start -->", "<!-- bench:end -->"
README_ROWS = 14


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
    machines = {**_kept("machines", cases), **dict.fromkeys(sorted(ran), machine)}
    document = {
        "commands": commands,
        "machines": machines,
        "outcomes": [asdict(outcome) for outcome in outcomes],
    }
    (RESULTS / "latest.json").write_text(json.dumps(document, indent=1) + "\n")
    made = [f"- {case}: `{by}`, {machines[case]}" for case, by in sorted(commands.items())]
    peers = ", ".join(f"{name} {version}" for name, version in sorted(versions().items()))
    made.append(f"- peers: {peers}")
    text = "\n".join(["# Benchmarks", "", *made, "", table(outcomes), ""])
    (RESULTS / "latest.md").write_text(text)
    short = [outcome for outcome in outcomes if outcome.in_readme][:README_ROWS]
    _into(ROOT / "README.md", goals(short))
    _into(ROOT / "docs/performance.md", goals(outcomes))


def _kept(what: str, cases: Collection[str]) -> dict[str, str]:
    """What is known of the last results of each case: its command, and its machine."""
    path = RESULTS / "latest.json"
    known = json.loads(path.read_text()).get(what, {}) if path.exists() else {}
    return {case: told for case, told in known.items() if case in cases}


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
        for row in sorted(outcome.rows, key=lambda row: row.median):
            goal = _goal(outcome) if row is outcome.ours else ""
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
    return f"{outcome.goal}: {'met' if outcome.met else 'missed'}"


def goals(outcomes: Sequence[Outcome]) -> str:
    """One line for each comparison: ours, the best other, the goal, and whether it is met."""
    lines = ["| | keyfold | best other | | goal |", "| --- | ---: | ---: | ---: | --- |"]
    for outcome in outcomes:
        ours, other = outcome.ours, outcome.best_other
        if ours is None or other is None or (outcome.met is None and not outcome.in_readme):
            continue
        verdict = {None: "none", True: f"{outcome.goal}: met", False: f"{outcome.goal}: **missed**"}
        lines.append(
            f"| {outcome.title} | {_time(ours)} | {other.side} {_time(other)} "
            f"| {other.median / ours.median:.2f}x | {verdict[outcome.met]} |"
        )
    return "\n".join(lines)


def _time(row: Row) -> str:
    shown = f"{row.median / 1000:,.1f} ms" if row.median >= 10_000 else f"{row.median:,.1f} µs"
    return f"{shown} ±{50 * row.spread:.0f}%"


def _into(page: Path, lines: str) -> None:
    text = page.read_text()
    head, _, rest = text.partition(START)
    _, _, tail = rest.partition(END)
    page.write_text(f"{head}{START}\n{lines}\n{END}{tail}")
