"""The frame around every page: bar, navigation, search, help."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import quote, urlencode

from keyfold.maintain import Drift
from keyfold_web.pages.html import MARK
from keyfold_workbench.studio.asset import address
from keyfold_workbench.studio.markup import Child, Html, el, text
from keyfold_workbench.studio.notation import count
from keyfold_workbench.studio.parts import link, state
from keyfold_workbench.studio.system import StudioSystem

GLASS = Html(
    '<svg width="14" height="14" viewBox="0 0 14 14" aria-hidden="true"><circle cx="6" cy="6" '
    'r="4.2" fill="none" stroke="currentColor" stroke-width="1.4"/><path d="M9.2 9.2 13 13" '
    'stroke="currentColor" stroke-width="1.4" stroke-linecap="round"/></svg>'
)
MOON = Html(
    '<svg width="15" height="15" viewBox="0 0 16 16" aria-hidden="true"><circle cx="8" cy="8" '
    'r="6" fill="none" stroke="currentColor" stroke-width="1.4"/><path d="M8 2a6 6 0 0 1 0 12z" '
    'fill="currentColor"/></svg>'
)
PAGES = (
    ("document", "Document", "o"),
    ("map", "Map", "m"),
    ("data", "Data", "d"),
    ("patterns", "Patterns", "p"),
    ("review", "Review", "r"),
    ("streams", "Streams and drift", "s"),
    ("migrations", "Migrations", "i"),
)
KEYS = (
    (("/",), "Search keys, ids, patterns, pages"),
    (("↑", "↓", "k", "j"), "Move in a list"),
    (("Enter",), "Open; in a detail, follow the link"),
    (("←", "→"), "Between tabs"),
    (("g", "h o m d p r s i"), "Home, document, map, data, patterns, review, streams, …"),
    (("⌘", "Enter"), "Send what the plan shows"),
    (("t",), "Light or dark"),
    (("Esc",), "Close"),
)

Hit = tuple[str, Child, str]
"""A result of the search: where it leads, its words and its kind."""


def href(base: str, *path: str, **query: str | int | None) -> str:
    """An address of the studio with a query."""
    given = {name: str(value) for name, value in query.items() if value is not None}
    where = "/".join(quote(part, safe="") for part in path)
    return f"{base}/{where}" + (f"?{urlencode(given)}" if given else "")


def document(
    base: str,
    title: str,
    body: Child,
    *,
    crumbs: Sequence[tuple[Child, str | None]] = (),
    system: StudioSystem | None = None,
    current: str = "",
    known: Iterable[Hit] = (),
) -> Html:
    """A whole page; `known` is what the search finds besides."""
    main = el("main", body, id="main", tabindex="-1")
    inner = (
        el("div.app.plain", main)
        if system is None
        else el("div.app", _side(base, system, current), main)
    )
    root = el(
        "html",
        el(
            "head",
            el("meta", charset="utf-8"),
            el("meta", name="viewport", content="width=device-width, initial-scale=1"),
            el("title", f"{title} · keyfold studio"),
            el("link", rel="icon", href="data:,"),
            el("link", rel="stylesheet", href=address(base, "colours.css")),
            el("link", rel="stylesheet", href=address(base, "studio.css")),
            el("script", src=address(base, "studio.js"), defer=True),
        ),
        el(
            "body",
            el("a.skip", "Skip to content", href="#main"),
            _top(base, crumbs, system),
            inner,
            _find(base, system, known),
            _help(),
        ),
        lang="en",
    )
    return Html(f"<!doctype html>{root}")


def _top(
    base: str, crumbs: Sequence[tuple[Child, str | None]], system: StudioSystem | None
) -> Html:
    steps = [
        el("li", link(where, words) if where else el("span", words, aria_current="page"))
        for words, where in crumbs
    ]
    where = None
    if system is not None:
        said = state("ok", "writable") if system.writable else state("note", "read-only")
        why = system.why_read_only or None
        where = el("span.where", el("span.path.mono", system.place), said, title=why)
    return el(
        "header.top",
        el(
            "a.brand",
            Html(MARK),
            el("b", "keyfold"),
            href=f"{base}/",
            aria_label="keyfold studio, all systems",
        ),
        el("nav", el("ol.crumbs", steps), aria_label="Where you are"),
        el("span.grow"),
        el(
            "button.find",
            GLASS,
            el("span", "Key, id, pattern, page"),
            el("kbd", "/", aria_hidden="true"),
            data_find=True,
            aria_label="Search: Key, id, pattern, page",
        ),
        where,
        el("button.icon", MOON, id="theme", aria_label="Switch between light and dark"),
        el("button.icon", "?", data_help=True, aria_label="Keyboard and help"),
    )


def _side(base: str, system: StudioSystem, current: str) -> Html:
    seen = system.survey.tables()
    whole = all(one.complete for one in seen.values())
    total = count(sum(one.items for one in seen.values())) if seen else ""
    numbers = {
        "map": count(len(system.schema.entities)),
        "data": total,
        "patterns": count(len(system.schema.access_patterns)),
        "review": count(len(system.review.findings)),
        "streams": count(len(drifts)) if (drifts := _drifts(system)) else "",
        "migrations": count(len(system.migrations)) if system.migrations else "",
    }
    pages = (
        el(
            "li",
            link(
                href(base, "s", system.slug, page),
                words,
                el("span.n", numbers.get(page, "")),
                data_go=key,
                aria_current="page" if page == current else None,
            ),
        )
        for page, words, key in _pages(system)
    )
    entities = []
    for entity in system.schema.entities:
        table = seen.get(entity.table)
        number = "" if table is None else count(table.count(entity.name), estimate=not whole)
        entities.append(_entity(base, system, entity.name, number))
    unknown = sum(one.count("undeclared") for one in seen.values())
    if unknown:
        entities.append(_entity(base, system, "", count(unknown, estimate=not whole)))
    return el(
        "nav.side",
        el(
            "div",
            el("ul", pages),
            el("div.ents", el("h3", "Entities"), el("ul", entities)),
        ),
        aria_label=system.title,
    )


def _pages(system: StudioSystem) -> list[tuple[str, str, str]]:
    """The pages that have something to show."""
    empty = {
        name
        for name, held in (
            ("patterns", system.schema.access_patterns),
            ("migrations", system.migrations),
            ("document", system.document),
        )
        if not held
    }
    return [one for one in PAGES if one[0] not in empty]


def _drifts(system: StudioSystem) -> Sequence[Drift]:
    last = system.checkup.last
    return last.drifts if last is not None else ()


def _entity(base: str, system: StudioSystem, name: str, number: str) -> Html:
    where = href(base, "s", system.slug, "data", entity=name or "undeclared")
    shown = link(
        where,
        system.palette.chip(name),
        el("span.name", name or "Undeclared"),
        el("span.n", number),
    )
    return el("li", shown)


def known_hits(base: str, system: StudioSystem, of: str = "") -> Iterator[Hit]:
    """The access patterns and entities of a system."""
    for pattern in system.schema.access_patterns:
        where = href(base, "s", system.slug, "patterns", pattern.name)
        yield where, pattern.name, f"pattern{of}"
    for entity in system.schema.entities:
        where = href(base, "s", system.slug, "data", entity=entity.name)
        yield where, entity.name, f"entity{of}"


def _find(base: str, system: StudioSystem | None, more: Iterable[Hit]) -> Html:
    known: list[Hit] = [(f"{base}/", "All systems", "page"), *more]
    if system is not None:
        for page, words, _ in _pages(system):
            known.append((href(base, "s", system.slug, page), words, "page"))
        known += known_hits(base, system)
    return el(
        "dialog",
        el(
            "input",
            type="text",
            placeholder="Key, id, pattern, page",
            aria_label="Search",
            autocomplete="off",
            spellcheck="false",
        ),
        el("div.hits.live"),
        el("div.hits", hits(known)),
        el(
            "p.empty",
            el("b", "Nothing found"),
            "A full key opens its partition; an id is tried in every key and index.",
            hidden=True,
        ),
        id="find",
        aria_label="Search",
        data_ask=href(base, "s", system.slug, "find") if system is not None else f"{base}/find",
    )


def hits(found: Iterable[Hit]) -> Html:
    """Search results, as the dialog shows them."""
    return text(link(where, el("span", words), el("small", kind)) for where, words, kind in found)


def _help() -> Html:
    rows = (
        (el("dt", [(el("kbd", key), " ") for key in keys]), el("dd", says)) for keys, says in KEYS
    )
    close = el("form", el("button.btn.quiet", "Close", type="submit"), method="dialog")
    return el(
        "dialog",
        el("header.pad", el("h2", "Keyboard"), close),
        el("dl.keys", rows),
        id="help",
        aria_label="Keyboard",
    )
