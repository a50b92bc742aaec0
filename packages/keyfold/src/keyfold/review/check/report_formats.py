"""Findings in machine formats: JSON, SARIF, GitHub annotations, and Markdown for pull requests."""

from __future__ import annotations

import json
from dataclasses import asdict
from importlib import metadata
from itertools import groupby
from typing import Any

from keyfold.review.check.page import page
from keyfold.review.check.report import PAGES, Finding, Review
from keyfold.review.check.rule import RULES
from keyfold.review.check.text import shown_path

_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {"error": "error", "warning": "warning", "note": "note", "question": "note"}
_ANNOTATIONS = {"error": "error", "warning": "warning", "note": "notice", "question": "notice"}


def as_json(report: Review) -> str:
    return json.dumps(
        {
            "design": report.design,
            "findings": [_plain(finding) for finding in report.findings],
            "accepted": [
                {**_plain(silenced.finding), "reason": silenced.reason}
                for silenced in report.silenced
            ],
            "failed_rules": [{"code": c.code, "error": c.error} for c in report.crashes],
            "unused_suppressions": [
                {"code": i.code, "file": i.place.file, "line": i.place.line, "unknown": i.unknown}
                for i in report.idle
            ],
        },
        indent=2,
        ensure_ascii=False,
    )


def _plain(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "rule": finding.name,
        "severity": finding.severity,
        "file": finding.place.file,
        "line": finding.place.line,
        "column": finding.place.column,
        "subject": finding.subject,
        "also": list(finding.also),
        "message": finding.message,
        "suggestion": finding.suggestion,
        "example": finding.example,
        "evidence": asdict(finding.evidence) if finding.evidence else None,
        "fingerprint": finding.digest,
        "link": finding.link,
    }


def as_sarif(report: Review) -> str:
    used = sorted({finding.code for finding in report.findings})
    tool = {
        "name": "keyfold",
        "version": metadata.version("keyfold"),
        "rules": [
            {
                "id": code,
                "name": RULES[code].name,
                "shortDescription": {"text": RULES[code].title},
                "helpUri": f"{PAGES}/{code}.md",
                "help": {"text": page(code).text, "markdown": page(code).text},
                "defaultConfiguration": {"level": _LEVELS[RULES[code].severity]},
            }
            for code in used
        ],
    }
    results = [
        {
            "ruleId": finding.code,
            "ruleIndex": used.index(finding.code),
            "level": _LEVELS[finding.severity],
            "message": {"text": _sentence(finding)},
            "locations": [_location(finding)],
            "partialFingerprints": {"keyfold/v2": finding.digest},
        }
        for finding in report.findings
    ]
    run = {"tool": {"driver": tool}, "results": results}
    document = {"$schema": _SARIF, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, indent=2, ensure_ascii=False)


def _sentence(finding: Finding) -> str:
    example = f" For example: {finding.example}." if finding.example else ""
    return f"{finding.subjects}: {finding.message}.{example} {finding.suggestion}"


def _location(finding: Finding) -> dict[str, Any]:
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": shown_path(finding.place.file)},
            "region": {
                "startLine": max(1, finding.place.line),
                "startColumn": max(1, finding.place.column),
            },
        }
    }


def as_github(report: Review) -> str:
    """Workflow commands, which GitHub shows on the changed lines."""
    return "\n".join(
        f"::{_ANNOTATIONS[f.severity]} file={_escape(shown_path(f.place.file), inner=True)},"
        f"line={max(1, f.place.line)},col={max(1, f.place.column)},title={f.code} {f.name}::"
        + _escape(_sentence(f))
        for f in report.findings
    )


def _escape(text: str, *, inner: bool = False) -> str:
    text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return text.replace(":", "%3A").replace(",", "%2C") if inner else text


def as_markdown(report: Review) -> str:
    """A section for each severity, a row for each finding."""
    lines = [f"# Findings on {report.design}", ""]
    if not report.findings:
        return "\n".join([*lines, "Nothing to report.", ""])
    titles = {"error": "Errors", "warning": "Warnings", "note": "Notes", "question": "Questions"}
    ordered = sorted(report.findings, key=lambda f: list(titles).index(f.severity))
    for severity, group in groupby(ordered, key=lambda finding: finding.severity):
        lines += [f"## {titles[severity]}", "", "| Rule | Where | What | What to do |"]
        lines += ["|---|---|---|---|"]
        lines += [
            f"| {f.code} {f.name} | {_cell(f.subjects)} | {_cell(f.message)} | "
            f"{_cell(f.suggestion)} |"
            for f in group
        ]
        lines.append("")
    return "\n".join(lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")
