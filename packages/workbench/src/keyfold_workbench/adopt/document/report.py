"""`keyfold docs --check DOCUMENT`: a comparison as the findings of a review."""

from __future__ import annotations

from pathlib import Path

from keyfold.design.schema import Schema
from keyfold.design.source import Place
from keyfold.design.target import FILES, load_schema
from keyfold.review.check.report import Finding, Review, Severity
from keyfold_workbench.adopt.document.comparison import Verdict, compare
from keyfold_workbench.adopt.document.reader import read_document
from keyfold_workbench.adopt.sources import detection
from keyfold_workbench.adopt.sources.text_files import read_text

_CODES: dict[Verdict, tuple[str, str, Severity, str]] = {
    "differs": ("DOC1", "differs", "warning", "Correct the document, or the design."),
    "said of nothing": (
        "DOC2",
        "said-of-nothing",
        "warning",
        "Take it out of the document, or build it.",
    ),
    "not said": ("DOC3", "not-said", "note", "Add it to the document."),
}


def compare_document(document: Path, source: str) -> tuple[Review, int]:
    """The findings about a document, and how many of its statements agree.

    `source` is a design, a template, or the address of an endpoint.
    """
    schema = _schema(source)
    reading = read_document(read_text(document))
    found = compare(reading, schema)
    findings = [
        Finding(
            code,
            name,
            severity,
            each.subject,
            each.message,
            advice,
            Place(str(document), each.line),
        )
        for each in found
        if each.verdict != "agrees"
        for code, name, severity, advice in (_CODES[each.verdict],)
    ]
    return Review(document.name, tuple(findings)), len(found) - len(findings)


def _schema(source: str) -> Schema:
    if (
        ":" in source
        and not source.startswith(("http:", "https:", "dynamodb:"))
        and not Path(source).exists()
    ):
        return load_schema(source)
    if source.endswith(FILES) and "design:" in read_text(Path(source))[:2000]:
        return load_schema(source)
    made = detection.read(source)
    return Schema(
        made.name or source, tuple(made.tables), tuple(made.entities), tuple(made.patterns)
    )
