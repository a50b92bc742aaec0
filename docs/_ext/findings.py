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
SECOND: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parent / "findings_second_reader.yaml").read_text("utf-8")
)
SILENT: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parent / "findings_silent.yaml").read_text("utf-8")
)
SYSTEMS = {
    "inviter": "Inviter",
    "search_room": "Search Room",
    "tamafriends": "TamaFriends",
    "gg_core": "gg_core",
    "sellers": "The sellers' restructuring",
}
INTRODUCTION = """\
# Findings on five documents

Five teams documented how they use DynamoDB. Each document is in this repository as a design file,
unchanged: `systems/src/keyfold_systems/*/as_written.yaml`. This page shows what `keyfold check`
finds. No rule is specific to these systems. Run `keyfold rule CODE` for details of a rule.

Every finding was reviewed and is **true**, **doubtful** or **wrong**. In the other direction, an
expert read each document and listed its problems; recall is the share of that list that the
reviewer finds. The authors of the rules wrote these lists and know what to look for, so read the
figure with that in mind.

The running designs, `design.py` beside each file, fix these problems.
"""


SECOND_READER = """\
## gg_core, a second reader

A second reader listed 40 problems of the gg_core document before seeing any finding. The reviewer
reported or asked about 30 of them (75%), and 33 after the changes that followed. For a document
that the authors of the rules have not read, expect the first figure.
"""


def findings() -> str:
    reviews = {name: _findings(name) for name in SYSTEMS}
    lines = [INTRODUCTION, *_totals(reviews), ""]
    for name, title in SYSTEMS.items():
        lines += [f"## {title}", "", *_system(name, reviews[name]), ""]
    lines += [SECOND_READER, *_listed(SECOND, reviews["gg_core"]), "", *_silent()]
    return "\n".join(lines).rstrip() + "\n"


def _findings(name: str) -> list[Finding]:
    report = check(load(ROOT / "systems" / "src" / "keyfold_systems" / name / "as_written.yaml"))
    return list(report.findings)


def verdict(name: str, finding: Finding) -> tuple[str, str]:
    """true, doubtful or wrong, and why where it is not true."""
    word, _, why = str(VERDICTS[name][finding.fingerprint]).partition(": ")
    return word, why


def recall(name: str, found: list[Finding]) -> tuple[int, int]:
    """How much of the expert's list the reviewer says, and how long the list is."""
    return said_of(READ[name], found), len(READ[name])


def said_of(rows: list[dict[str, Any]], found: list[Finding]) -> int:
    known = {finding.fingerprint for finding in found}
    return sum(row["found"] in known for row in rows)


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


_SEVERITIES = ("error", "warning", "note", "question")


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
    yield "The expert's list, with the matching findings:"
    yield ""
    yield from _listed(READ[name], found)


def _listed(rows: list[dict[str, Any]], found: list[Finding]) -> Iterator[str]:
    known = {finding.fingerprint: finding for finding in found}
    for row in rows:
        same = known.get(row["found"])
        yield f"- {row['says']}: {f'{same.code}' if same else '**missed**'}"


def _silent() -> Iterator[str]:
    yield from ("## Rules without a finding", "", "| Rules | Why they do not apply |", "|---|---|")
    for row in SILENT:
        links = ", ".join(f"[{code}](rules/{code}.md)" for code in row["codes"])
        yield f"| {links} | {_cell(row['why'])} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


if __name__ == "__main__":
    TARGET.write_text(findings(), encoding="utf-8")
