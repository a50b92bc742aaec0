"""Writes docs/findings.md: what the reviewer finds in the five documents, one line each."""

from __future__ import annotations

from pathlib import Path

from keyfold.design.file import load
from keyfold.review.check import check

ROOT = Path(__file__).parents[2]
TARGET = ROOT / "docs" / "findings.md"
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
file, with its faults: `src/keyfold_systems/*/as_written.yaml`. This is what `keyfold check` says
about them, one line for each finding. No rule knows the systems; `keyfold rule CODE` explains one.

The designs that run, `design.py` beside each file, put these things right.
"""


def findings() -> str:
    lines = [INTRODUCTION]
    for name, title in SYSTEMS.items():
        report = check(load(ROOT / "src" / "keyfold_systems" / name / "as_written.yaml"))
        counted = {s: sum(f.severity == s for f in report.findings) for s in ("error", "warning")}
        notes = len(report.findings) - sum(counted.values())
        lines.append(f"## {title}\n")
        lines.append(f"{counted['error']} errors, {counted['warning']} warnings, {notes} notes.\n")
        lines += [
            f"- [{f.code}](rules/{f.code}.md) **{f.subject}** {_plain(f.message)}."
            for f in report.findings
        ]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _plain(text: str) -> str:
    return text.replace("<", "&lt;") if "`" not in text else text


if __name__ == "__main__":
    TARGET.write_text(findings(), encoding="utf-8")
