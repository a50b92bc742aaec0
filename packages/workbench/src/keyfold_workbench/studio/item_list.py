"""A list of items beside the chosen one: rows, filters, and the cost of reading them."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Collection

from keyfold.design.schema import TableSchema
from keyfold_workbench.studio.collection import (
    FieldFilter,
    ItemPage,
    find_item,
)
from keyfold_workbench.studio.detail import detail
from keyfold_workbench.studio.items import KnownItem, names_of, value_text
from keyfold_workbench.studio.markup import Child, Html, el, text
from keyfold_workbench.studio.notation import count, plural, size_with_unit, unit_words, units
from keyfold_workbench.studio.parts import empty, kept_boxes, link, state
from keyfold_workbench.studio.view import PageView

FIELDS = 3
"""Fields shown in an item's row, beside its title."""


def names_item(view: PageView) -> bool:
    """Whether the address says which item is chosen."""
    return "isk" in view.query or "ipk" in view.query


def named_item(view: PageView, table: TableSchema) -> KnownItem | None:
    """The item in the address, as it is stored now."""
    partition = view.query.get("ipk", view.query.get("pk", ""))
    return find_item(view.system, table, partition, view.query.get("isk"))


def chosen_item(view: PageView, table: TableSchema, page: ItemPage) -> KnownItem | None:
    """The item in the address, or the first."""
    if not names_item(view):
        return page.items[0] if page.items else None
    return named_item(view, table)


def split(
    view: PageView,
    table: TableSchema,
    page: ItemPage,
    chosen: KnownItem | None,
    label: str,
    total: str = "",
) -> Html:
    """`total` is how many items there are to look at, if it is known."""
    kinds = Tally(item.kind for item in page.items)
    chips = [
        el(
            "button.tag",
            view.chip(name if view.system.entity(name) else ""),
            f" {name if view.system.entity(name) else name.capitalize()} {number}",
            aria_pressed="true",
            data_show=name,
        )
        for name, number in kinds.items()
    ]
    rows = [_row(view, item, chosen) for item in page.items]
    read_on = None
    if page.after:
        read_on = link(_following(view, page), "Next page", class_="btn")
    took = f"{plural(page.read, 'item')} read for {unit_words(page.units)}"
    listed: Child = el("nav.rows", rows, aria_label=label)
    if not page.items and not (page.after and filter_of(view)):
        title, says = (
            ("Nothing yet", "none matches; more follow")
            if page.after
            else ("Nothing here", "none matches" if page.read else "no items")
        )
        listed = empty(title, f"{took}: {says}.")
    section = el(
        "section.panel",
        el("header", el("h2.hide", "Items"), el("div.acts", chips)) if chips else None,
        _filter_form(view, table),
        _looked(view, page, total),
        listed,
        el("footer", el("span.small", took), read_on),
        aria_label="Items",
    )
    if chosen is None:
        return section
    back = el("button.btn.quiet.back", "‹ All items", data_back=True)
    aside = el(
        "aside.panel.detail",
        back,
        el("div", detail(view, chosen), id="detail"),
        aria_label="Selected item",
    )
    opened = " open" if "isk" in view.query or "ipk" in view.query else ""
    return el("div", section, aside, class_=f"split{opened}")


def filter_of(view: PageView) -> FieldFilter | None:
    field, value = view.query.get("field", ""), view.query.get("value", "")
    return FieldFilter(field, value) if value else None


def only_rows(view: PageView, page: ItemPage, total: str) -> Html:
    """What the script adds to a list that is there: the next rows, and what they took."""
    return text([_row(view, item, None) for item in page.items], _looked(view, page, total))


def _looked(view: PageView, page: ItemPage, total: str) -> Child:
    """What a filter found and looked at. The script reads on from here and adds up."""
    if filter_of(view) is None:
        return None
    found, read = count(len(page.items)), count(page.read)
    of = f" of {total}" if total else ""
    return el(
        "div.looked",
        el(
            "p",
            el("b", found, data_sum="found"),
            " found. Looked at ",
            el("b", read, data_sum="read"),
            of,
            ", ",
            el("span", units(page.units), data_sum="units"),
            " units so far.",
        ),
        el("button.btn", "Stop", hidden=True),
        role="status",
        data_next=_following(view, page) or None,
        data_found=len(page.items),
        data_read=page.read,
        data_units=page.units,
    )


def _following(view: PageView, page: ItemPage) -> str:
    query = {n: one for n, one in view.query.items() if n not in ("ipk", "isk")}
    return view.at("data", **{**query, "after": page.after}) if page.after else ""


def _filter_form(view: PageView, table: TableSchema) -> Html:
    names = sorted(
        {
            attribute.name
            for entity in view.system.schema.entities_of(table.name)
            for attribute in entity.attributes
            if attribute.is_stored
        }
    )
    options = [
        el("option", name, value=name, selected=name == view.query.get("field")) for name in names
    ]
    kept = [one for one in view.query.items() if one[0] not in ("field", "value", "after")]
    return el(
        "form.strip.filter",
        kept_boxes(kept),
        el("label.hide", "Filter by field", for_="field"),
        el("select", el("option", "any field", value=""), options, id="field", name="field"),
        el("label.hide", "holds", for_="value"),
        el(
            "input",
            type="text",
            id="value",
            name="value",
            placeholder="holds",
            value=view.query.get("value", ""),
        ),
        el("button.btn", "Filter", type="submit"),
        action=view.at("data"),
        method="get",
    )


def _row(view: PageView, item: KnownItem, chosen: KnownItem | None) -> Html:
    colour = view.system.palette.colour(item.kind)
    shape = "unknown"
    if item.entity is not None:
        shape = "copy" if item.entity.copy else "canonical"
    query = {**view.query, "ipk": item.partition, "isk": item.sort}
    query.pop("after", None) if not view.query.get("after") else None
    index = item.table.index(view.query.get("index", ""))
    templates = item.entity.key if item.entity is not None else None
    template = None
    if templates is not None:
        template = templates.sort if item.sort is not None else templates.partition
    key = view.key(item.sort if item.sort is not None else item.partition, item.entity, template)
    if "entity" in view.query:
        key = el("span", view.item_key(item))
    elif index is not None and index.sort_types.keys() <= item.wire.keys():
        key = el("span", view.index_key(item, index, index.sort_types or index.partition_types))
    above = _shared_fields(view, item)
    title = item.name_beside(above)
    drift = view.system.checkup.drift_of(item.table.name, item.key)
    flag = state("warn", "undeclared") if item.kind == "undeclared" else None
    if drift is not None:
        flag = state("bad", drift.kind)
    return link(
        view.at("data", **query),
        view.chip(item.entity.name if item.entity else ""),
        el(
            "span.what",
            el(
                "span",
                el("bdi.name", title) if title else None,
                el("small", el("bdi", summary(item, title, above))),
                el("span.flag.small", flag),
            ),
            el("span.line", key),
        ),
        el("span.size.num.muted", size_with_unit(item.size)),
        class_=f"row {colour} {shape}",
        data_kind=item.kind,
        aria_current="true" if chosen is not None and chosen.key == item.key else None,
    )


def _shared_fields(view: PageView, item: KnownItem) -> Collection[str]:
    """The fields that all rows share: those of the partition key."""
    if item.entity is None:
        return ()
    placed = item.entity.placement(view.query["index"]) if "index" in view.query else []
    key = placed[0].key if placed else item.entity.key
    return key.partition.fields if key is not None else ()


def summary(item: KnownItem, title: str, above: Collection[str]) -> str:
    """A few values that distinguish an item from its neighbours."""
    if item.entity is None:
        held = [value_text(v) for n, v in item.values.items() if n not in item.table.key_attributes]
        return ", ".join(held[:FIELDS])[:120]
    in_key = set(item.entity.key.fields) if item.entity.key else set()
    said: list[str] = []
    for attribute in item.entity.attributes:
        value = item.values.get(attribute.field)
        dull = value in (None, "", [], title) or attribute.field in in_key
        dull = (
            dull
            or names_of(attribute.field, above)
            or attribute.type in ("id", "binary", "binary_set")
        )
        if dull or isinstance(value, dict | bool) or attribute.field == item.entity.version:
            continue
        words = value_text(value, attribute).removesuffix(" UTC")
        if len(words) > 40:
            continue
        is_number = attribute.type in ("number", "integer")
        name = attribute.field if is_number else ""
        if attribute.type == "timestamp" and attribute.field.endswith("_at"):
            name = attribute.field.removesuffix("_at")
        said.append(f"{name} {words}".strip())
        if len(said) == FIELDS:
            break
    return ", ".join(said)
