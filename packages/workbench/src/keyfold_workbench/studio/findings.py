"""Findings of the review, as pages show them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from keyfold.review.check import Finding
from keyfold.review.check.report import Severity
from keyfold_workbench.studio.markup import Child, Html, el, text
from keyfold_workbench.studio.notation import place_words
from keyfold_workbench.studio.parts import link, panel, state
from keyfold_workbench.studio.view import PageView

KINDS: dict[Severity, str] = {
    "error": "bad",
    "warning": "warn",
    "note": "note",
    "question": "note",
}
"""The states of severities."""


def finding_list(view: PageView, findings: Iterable[Finding]) -> Html:
    return el("ul", [_finding(view, one) for one in findings])


def findings_panel(view: PageView, name: str) -> Child:
    """The reviewer's findings about an entity or pattern, if there are any."""
    named = re.compile(rf"\b{re.escape(name)}\b")
    found = [one for one in view.system.review.findings if named.search(one.subject)]
    return panel("Findings", finding_list(view, found)) if found else None


def rule_link(view: PageView, one: Finding) -> Html:
    """The way to the page of the rule."""
    return link(view.at("rules", one.code), f"{one.code} {one.name}", class_="rule")


def _finding(view: PageView, one: Finding) -> Html:
    place = place_words(one.place) if one.place.file else ""
    return el(
        "li.finding",
        state(KINDS[one.severity], one.severity),
        el("b.subject", one.subject),
        rule_link(view, one),
        el("p.say", with_code(one.message)),
        el("p.fix", with_code(one.suggestion), " ", el("span.faint.nowrap", place)),
    )


def with_code(message: str) -> Html:
    """Text with code in backquotes."""
    parts = message.split("`")
    return text(*(el("code", part) if at % 2 else part for at, part in enumerate(parts)))
