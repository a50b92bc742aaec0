"""The boxes of a form's field: a text, a tick, a choice, several of them, parts, rows."""

from __future__ import annotations

from collections.abc import Sequence

from keyfold_workbench.studio.entry import FormField
from keyfold_workbench.studio.markup import Child, Html, el, text
from keyfold_workbench.studio.shape import EACH, NAME, VALUE, Given, ValueShape

TYPED_EXACTLY = ("timestamp", "uuid", "duration", "binary")
OFFERED = 40
LINES = 3


def field_widget(one: FormField) -> Html:
    """A field with its name, its type, what was there and what is wrong with it."""
    boxes = _boxes(one)
    said = [
        el("small.muted", f"was “{one.was}”") if one.was is not None else None,
        el("small.err", one.problem) if one.problem else None,
    ]
    kind = "changed" if one.was is not None else None
    asks = el("code", one.asks)
    if one.shape.kind == "flag":
        return el("div", el("label", boxes, " ", one.name, " ", asks), said, class_=kind)
    if one.shape.is_single or one.shape.kind == "json" or _as_text(one):
        label = el("label", one.name, " ", asks, for_=box_id(one.name))
        return el("div", label, boxes, said, class_=kind)
    legend = el("legend.label", one.name, " ", asks)
    return el("fieldset", legend, boxes, said, class_=kind)


def box_id(path: str) -> str:
    return f"f-{path}"


def _as_text(one: FormField) -> bool:
    """Several values of which one is empty are written as one text."""
    return one.shape.kind == "several" and one.name in one.given


def _boxes(one: FormField) -> Html:
    shape, path, given = one.shape, one.name, one.given
    offered = _offered(one)
    if one.is_long or shape.kind == "json" or _as_text(one):
        return _area(path, _first(given, path), invalid=bool(one.problem), mono=not one.is_long)
    if shape.is_single:
        exact = one.kind in TYPED_EXACTLY or shape.number
        return text(
            _box(shape, path, _first(given, path), one, exact=exact, labelled=True), offered
        )
    if shape.kind == "several" and shape.choices:
        return _ticks(shape, path, given.get(f"{path}{EACH}", ()))
    if shape.kind == "several":
        texts = [*(t for t in given.get(f"{path}{EACH}", ()) if t), ""]
        called = dict(one.offered)
        boxes = (
            _one_of(
                _box(shape, f"{path}{EACH}", t, one, label=f"{path}, {at}"),
                el("small", called[t]) if called.get(t) else None,
            )
            for at, t in enumerate(texts, 1)
        )
        return text(el("div.several", boxes, data_more=True), offered)
    if shape.kind == "pairs":
        return _pairs(one)
    if shape.kind == "rows":
        return _rows(one)
    return el("div.parts", (_part(one, name, part) for name, part in shape.parts.items()))


def _first(given: Given, path: str) -> str:
    found = given.get(path, ())
    return found[-1] if found else ""


def _one_of(*boxes: Child) -> Html:
    """One of several, with a way to take it out; an empty one is not sent."""
    gone = el("button.gone", "×", data_gone=True, aria_label="Remove")
    return el("span.one", *boxes, gone)


def _area(path: str, given: str, *, invalid: bool, mono: bool) -> Html:
    return el(
        "textarea",
        given,
        id=box_id(path),
        name=box_id(path),
        rows=LINES,
        class_="mono" if mono else None,
        aria_invalid="true" if invalid else None,
    )


def _offered(one: FormField) -> Html | None:
    if not one.offered:
        return None
    options = (el("option", label, value=value) for value, label in one.offered[:OFFERED])
    return el("datalist", options, id=f"{box_id(one.name)}-offered")


def _box(
    shape: ValueShape,
    path: str,
    given: str,
    one: FormField,
    *,
    exact: bool = False,
    labelled: bool = False,
    label: str | None = None,
) -> Html:
    """One box; without a label beside it, it has its own."""
    name, wrong = box_id(path), "true" if one.problem else None
    own = name if labelled else None
    if shape.kind == "flag":
        ticked = given == "true"
        return text(
            el("input", type="hidden", name=name, value="false"),
            el(
                "input",
                type="checkbox",
                id=own,
                name=name,
                value="true",
                checked=ticked,
                aria_label=label,
            ),
        )
    if shape.choices:
        blank = [""] if shape.optional or given not in shape.choices else []
        options = [el("option", v, value=v, selected=v == given) for v in (*blank, *shape.choices)]
        return el("select", options, id=own, name=name, aria_invalid=wrong, aria_label=label)
    return el(
        "input",
        type="date" if shape.kind == "date" else "text",
        id=own,
        name=name,
        value=given,
        class_="mono" if exact else None,
        list=f"{box_id(one.name)}-offered" if one.offered else None,
        inputmode="decimal" if shape.number else None,
        placeholder=None if given or labelled else "add",
        autocomplete="off",
        aria_invalid=wrong,
        aria_label=label,
    )


def _ticks(shape: ValueShape, path: str, chosen: Sequence[str]) -> Html:
    name = box_id(f"{path}{EACH}")
    ticks = (
        el(
            "label",
            el("input", type="checkbox", name=name, value=one, checked=one in chosen),
            " ",
            one,
        )
        for one in shape.choices
    )
    return el("div.ticks", el("input", type="hidden", name=name, value=""), ticks)


def _pairs(one: FormField) -> Html:
    names, values = (list(one.given.get(f"{one.name}{of}", ())) for of in (NAME, VALUE))
    pairs = [*((n, v) for n, v in zip(names, values, strict=False) if n), ("", "")]
    plain = ValueShape("text")
    rows = (
        _one_of(
            _box(plain, f"{one.name}{NAME}", name, one, exact=True, label=f"{one.name}: name"),
            _box(plain, f"{one.name}{VALUE}", value, one, label=f"{one.name}: value of {name}"),
        )
        for name, value in pairs
    )
    return el("div.several.pairs", rows, data_more=True)


def _rows(one: FormField) -> Html:
    """A list of models: a line each, a column for each field."""
    paths = {name: f"{one.name}{EACH}.{name}" for name in one.shape.parts}
    columns = [one.given.get(path, ()) for path in paths.values()]
    given = [row for row in zip(*columns, strict=False) if any(row)]
    rows = []
    for at, row in enumerate([*given, ("",) * len(paths)], 1):
        cells: list[Child] = [
            el("td", _box(part, paths[name], value, one, label=f"{name} of {one.name} {at}"))
            for (name, part), value in zip(one.shape.parts.items(), row, strict=True)
        ]
        gone = el("button.gone", "×", data_gone=True, aria_label=f"Remove {at}")
        rows.append(el("tr.one", cells, el("td", gone)))
    heads = [el("th", name) for name in paths]
    table = el(
        "table.lines",
        el("thead", el("tr", heads, el("th", el("span.hide", "Remove")))),
        el("tbody", rows, data_more=True),
    )
    return el("div.scroll", table, tabindex="0", role="region", aria_label=one.name)


def _part(one: FormField, name: str, part: ValueShape) -> Html:
    """A field of a model."""
    path = f"{one.name}.{name}"
    inner = FormField(path, "", part, one.given, "", problem=one.problem)
    if part.kind == "flag":
        return el("label", _boxes(inner), " ", name)
    if part.is_single:
        return el("div", el("label", name, for_=box_id(path)), _boxes(inner))
    return el("div", el("span.label", name), _boxes(inner))
