"""Findings of the review, as pages show them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from keyfold.review.check import Finding
from keyfold_workbench.studio.markup import Html, el, text
from keyfold_workbench.studio.notation import place_words
from keyfold_workbench.studio.parts import link, state
from keyfold_workbench.studio.view import PageView

KINDS = {"error": ("bad", "error"), "warning": ("warn", "warning"), "note": ("note", "note")}
"""States of severities; others are notes of their own name."""


def finding_list(view: PageView, findings: Iterable[Finding]) -> Html:
    return el("ul", [_finding(view, one) for one in findings])


def findings_about(view: PageView, name: str) -> list[Finding]:
    """Findings about an entity or pattern."""
    named = re.compile(rf"\b{re.escape(name)}\b")
    return [one for one in view.system.review.findings if named.search(one.subject)]


def rule_link(view: PageView, one: Finding) -> Html:
    """The way to the page of the rule."""
    return link(view.at("rules", one.code), f"{one.code} {one.name}", class_="rule")


def _finding(view: PageView, one: Finding) -> Html:
    kind, word = KINDS.get(one.severity, ("note", one.severity))
    place = place_words(one.place) if one.place.file else ""
    return el(
        "li",
        state(kind, word),
        el("b", one.subject, class_="subject"),
        rule_link(view, one),
        el("p", with_code(one.message), class_="say"),
        el(
            "p",
            with_code(one.suggestion),
            " ",
            el("span", place, class_="faint nowrap"),
            class_="fix",
        ),
        class_="finding",
    )


def with_code(message: str) -> Html:
    """Text with code in backquotes."""
    parts = message.split("`")
    return text(*(el("code", part) if at % 2 else part for at, part in enumerate(parts)))
