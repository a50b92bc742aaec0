"""Findings in machine formats: JSON and SARIF."""

from __future__ import annotations

import json
from importlib import metadata
from typing import Any

from keyfold.review.check.page import page
from keyfold.review.check.report import PAGES, Finding, Review
from keyfold.review.check.rule import RULES
from keyfold.review.check.text import shown_path

_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {"error": "error", "warning": "warning", "note": "note", "question": "note"}


def as_json(report: Review) -> str:
    return json.dumps(
        {
            "design": report.design,
            "findings": [_as_json(finding) for finding in report.findings],
            "accepted": [
                {**_as_json(silenced.finding), "reason": silenced.reason}
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


def _as_json(finding: Finding) -> dict[str, Any]:
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
        "example": [list(row) for row in finding.example.rows] if finding.example else [],
        "fingerprint": finding.digest,
        "link": finding.link,
    }


def _sarif_rule(code: str) -> dict[str, Any]:
    return {
        "id": code,
        "name": RULES[code].name,
        "shortDescription": {"text": RULES[code].title},
        "helpUri": f"{PAGES}/{code}.md",
        "help": {"text": page(code).text, "markdown": page(code).text},
        "defaultConfiguration": {"level": _LEVELS[RULES[code].severity]},
    }


def as_sarif(report: Review) -> str:
    used = sorted({finding.code for finding in report.findings})
    tool = {
        "name": "keyfold",
        "version": metadata.version("keyfold"),
        "rules": [_sarif_rule(code) if code in RULES else {"id": code} for code in used],
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
    example = f" For example: {finding.example.sentence}." if finding.example else ""
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
