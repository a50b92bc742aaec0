"""Writes docs/findings.md: what the reviewer finds in five documents, and what an expert says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from keyfold.design.file import load
from keyfold.review.check import Finding, check

ROOT = Path(__file__).parents[2]
TARGET = ROOT / "docs" / "findings.md"
READ = yaml.safe_load((Path(__file__).parent / "findings_reviewed.yaml").read_text("utf-8"))
VERDICTS = yaml.safe_load((Path(__file__).parent / "findings_verdicts.yaml").read_text("utf-8"))
SYSTEMS = {
    "inviter": "Inviter",
    "search_room": "Search Room",
    "tamafriends": "TamaFriends",
    "gg_core": "gg_core",
    "sellers": "The sellers' restructuring",
}
INTRODUCTION = """\
# Findings on five documents

Five teams wrote down how they use DynamoDB. Each document stands in this repository as a design
file, to the letter: `src/keyfold_systems/*/as_written.yaml`. This is what `keyfold check` says
about them. No rule knows the systems. Run `keyfold rule CODE` for details of one.

Every finding was gone through one by one and is **true**, **doubtful** or **wrong**. The other way
round, each document was read from beginning to end and what an expert would say about it was
listed; the share of that list which the reviewer says too is its recall. The lists are by the
authors of the rules, who know what to look for: read the figure with that in mind.

The designs that run, `design.py` beside each file, put these things right.
"""


def findings() -> str:
    reviews = {name: _findings(name) for name in SYSTEMS}
    lines = [INTRODUCTION, *_totals(reviews), ""]
    for name, title in SYSTEMS.items():
        lines += [f"## {title}", "", *_system(name, reviews[name]), ""]
    return "\n".join(lines).rstrip() + "\n"


def _findings(name: str) -> list[Finding]:
    report = check(load(ROOT / "src" / "keyfold_systems" / name / "as_written.yaml"))
    return list(report.findings)


def verdict(name: str, finding: Finding) -> tuple[str, str]:
    """true, doubtful or wrong, and why where it is not true."""
    word, _, why = str(VERDICTS[name][finding.fingerprint]).partition(": ")
    return word, why


def recall(name: str, found: list[Finding]) -> tuple[int, int]:
    """How much of the expert's list the reviewer says, and how long the list is."""
    known = {finding.fingerprint for finding in found}
    rows: list[dict[str, Any]] = READ[name]
    return sum(row["found"] in known for row in rows), len(rows)


def _totals(reviews: dict[str, list[Finding]]) -> Iterator[str]:
    yield "| Document | Errors | Warnings | Notes | Questions | True | Doubtful | Wrong | Recall |"
    yield "|---|---|---|---|---|---|---|---|---|"
    sums = [0] * 9
    for name, title in SYSTEMS.items():
        found = reviews[name]
        counts = [sum(f.severity == s for f in found) for s in _SEVERITIES]
        words = [verdict(name, f)[0] for f in found]
        counts += [words.count(word) for word in ("true", "doubtful", "wrong")]
        said, listed = recall(name, found)
        sums = [a + b for a, b in zip(sums, (*counts, said, listed), strict=True)]
        yield f"| {title} | {' | '.join(map(str, counts))} | {said} of {listed} |"
    total = f"{sums[7]} of {sums[8]} ({sums[7] / sums[8]:.0%})"
    yield f"| **All** | {' | '.join(map(str, sums[:7]))} | {total} |"


_SEVERITIES = ("error", "warning", "info", "question")


def _system(name: str, found: list[Finding]) -> Iterator[str]:
    yield "| Rule | Where | What | Verdict |"
    yield "|---|---|---|---|"
    for finding in found:
        word, why = verdict(name, finding)
        said = f"{word}: {why}" if why else word
        yield (
            f"| [{finding.code}](rules/{finding.code}.md) {finding.severity} | "
            f"{_cell(finding.subjects)} | {_cell(finding.message)} | {_cell(said)} |"
        )
    yield ""
    yield "What the expert says, and the finding that says the same:"
    yield ""
    known = {finding.fingerprint: finding for finding in found}
    for row in READ[name]:
        same = known.get(row["found"])
        yield f"- {row['says']}: {f'{same.code}' if same else '**missed**'}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


if __name__ == "__main__":
    TARGET.write_text(findings(), encoding="utf-8")
