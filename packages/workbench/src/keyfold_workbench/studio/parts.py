"""The parts that pages are made of: panels, figures, states, keys, entities, differences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from keyfold_workbench.studio.markup import Child, Html, el, text

STATES = ("ok", "note", "warn", "bad", "run")


def state(kind: str, words: Child) -> Html:
    """A state: its shape, its colour and a word."""
    return el("span", el("b", words), class_=f"st {kind}")


def panel(
    title: Child,
    *body: Child,
    note: Child = None,
    footer: Child = None,
    label: str | None = None,
) -> Html:
    head = el("h2", title)
    said = note
    if isinstance(note, str) and not isinstance(note, Html):
        said = el("span.small.muted", note)
    return el(
        "section.panel",
        el("header", head, said),
        *body,
        el("footer", footer) if footer is not None else None,
        aria_label=label,
    )


def stats(figures: Iterable[tuple[str, Child, Child]], *, inset: bool = False) -> Html:
    """Figures that answer the page's question: a label, the figure, and a note."""
    return el(
        "dl",
        (
            el("div", el("dt", label), el("dd", value, " ", el("small", beside)))
            for label, value, beside in figures
        ),
        class_="stats inset" if inset else "stats",
    )


def head(title: Child, says: Child, *acts: Child, flush: bool = False) -> Html:
    return el(
        "div",
        el("div", el("h1", title), el("p", says)),
        el("div.acts", *acts) if acts else None,
        class_="head flush" if flush else "head",
    )


def grid(columns: Sequence[str], rows: Iterable[Sequence[Child]], *, hold: bool = False) -> Html:
    """A table under these headings; `#Items` is a column of numbers."""
    kinds = ["num" if one.startswith("#") else None for one in columns]
    names = [one.removeprefix("#") for one in columns]
    heads = (
        el("th", name or el("span.hide", "Open"), class_=kind)
        for name, kind in zip(names, kinds, strict=True)
    )
    body = (
        el("tr", (el("td", cell, class_=kind) for cell, kind in zip(row, kinds, strict=True)))
        for row in rows
    )
    made = el(
        "table", el("thead", el("tr", heads)), el("tbody", body), class_="hold" if hold else None
    )
    # By its headings a screen reader tells one table from the other.
    label = f"Table: {', '.join(filter(None, names))}"
    return el("div.scroll", made, tabindex="0", role="region", aria_label=label)


def fields(pairs: Iterable[tuple[Child, Child]], *, pad: bool = False) -> Html:
    """Names and what they are."""
    return el(
        "dl",
        (el("div", el("dt", name), el("dd", value)) for name, value in pairs),
        class_="kv pad" if pad else "kv",
    )


def diff(changes: Iterable[tuple[str, str | None, str | None]]) -> Html:
    """Fields before and after a change; a missing side is shown in words."""
    return el(
        "dl.diff",
        (
            (
                el("dt", name),
                el(
                    "dd",
                    el("del", "nothing" if old is None else old),
                    el("span.to", "→"),
                    el("ins", "nothing" if new is None else new),
                ),
            )
            for name, old, new in changes
        ),
    )


def kept_boxes(fields: Iterable[tuple[str, str]]) -> Html:
    """Fields of a form that nobody sees."""
    return text(el("input", type="hidden", name=name, value=value) for name, value in fields)


def bar(share: float, colour: str = "") -> Html:
    width = f"{100 * max(0.0, min(1.0, share)):.1f}%"
    return el(
        "svg",
        el("rect", width="100%", height="100%"),
        el("rect.on", width=width, height="100%"),
        class_=f"bar {colour}".strip(),
        aria_hidden="true",
    )


def tabs(name: str, panels: Sequence[tuple[str, Child]], *beside: Child, label: str) -> Html:
    """Panels of which one is seen."""
    buttons = (
        el(
            "button",
            title,
            role="tab",
            id=f"{name}-t{at}",
            aria_controls=f"{name}-{at}",
            aria_selected="true" if at == 0 else "false",
            tabindex=0 if at == 0 else -1,
        )
        for at, (title, _) in enumerate(panels)
    )
    shown = (
        el(
            "div",
            body,
            role="tabpanel",
            id=f"{name}-{at}",
            aria_labelledby=f"{name}-t{at}",
            hidden=at > 0,
        )
        for at, (_, body) in enumerate(panels)
    )
    return el(
        "section.panel",
        el("header", el("div.tabs", buttons, role="tablist", aria_label=label), *beside),
        shown,
    )


def live_part(name: str, *body: Child, lasting: bool = True) -> Html:
    """A part that the script asks for again and again, until it comes as one that stays."""
    return el("div.stack", *body, id=name, data_live=lasting)


def empty(title: str, *says: Child) -> Html:
    """What would be here, and how it comes here."""
    return el("p.empty", el("b", title), *says)


def banner(kind: str, *says: Child) -> Html:
    return el("div", el("span.grow", *says), class_=f"banner {kind}", role="status")


def code(given: Child) -> Html:
    return el("pre", given, tabindex="0")


def link(href: str, *says: Child, **attributes: str | bool | None) -> Html:
    return el("a", *says, href=href, **attributes)


def words(items: Sequence[Child], between: str = ", ") -> Html:
    """Items in a row of words."""
    out: list[Child] = []
    for at, item in enumerate(items):
        out += [between if at else None, item]
    return text(*out)
