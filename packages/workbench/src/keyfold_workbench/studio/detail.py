"""One item in full: fields, references, copies, index entries, size, wire JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from keyfold.design.schema import AttributeSchema, EntitySchema
from keyfold_workbench.studio import relatives
from keyfold_workbench.studio.collection import find_item
from keyfold_workbench.studio.items import (
    KnownItem,
    WireItem,
    key_texts,
    partition_of,
    scalar,
    value_text,
)
from keyfold_workbench.studio.likeness import vector_text
from keyfold_workbench.studio.markup import Child, Html, el, text
from keyfold_workbench.studio.notation import plural, size, type_words, units
from keyfold_workbench.studio.parts import banner, fields, link, state
from keyfold_workbench.studio.request_text import wire_json
from keyfold_workbench.studio.value import value_line, value_tree
from keyfold_workbench.studio.view import PageView, shortened


@dataclass(frozen=True)
class Family:
    """An item's canonical, if it is a copy, and all copies of the two."""

    canonical: tuple[EntitySchema, WireItem] | None
    stored: KnownItem | None
    """The canonical as it is stored."""
    copies: list[relatives.Relative]


def detail(view: PageView, item: KnownItem) -> Html:
    """The panel of one item."""
    family = _family(view, item)
    return el(
        "div.pad.stack.tight",
        _head(view, item, family),
        _problem(view, item, family),
        _fields(view, item),
        _relatives(view, item, family),
        el("p.small.muted", _weight(item)),
        el(
            "details",
            el("summary", "Wire JSON"),
            el("pre", wire_json(dict(sorted(item.wire.items()))), id="wire-json", tabindex="0"),
            el("button.btn.quiet", "Copy", data_copy="#wire-json"),
        ),
    )


def _family(view: PageView, item: KnownItem) -> Family:
    canonical = relatives.canonical_key(view.system, item)
    if canonical is None:
        return Family(None, None, relatives.copies(view.system, item))
    entity, key = canonical
    table = view.system.schema.by_table[entity.table]
    found = find_item(view.system, table, *key_texts(table, key))
    return Family(canonical, found, relatives.copies(view.system, found or item))


def _is_here(item: KnownItem, one: relatives.Relative) -> bool:
    return one.key == item.key and one.table.name == item.table.name


def _head(view: PageView, item: KnownItem, family: Family) -> Html:
    name = item.entity.name if item.entity is not None else ""
    words = name or ("keyfold’s own" if item.support else "Undeclared")
    acts: list[Child] = []
    if view.system.design is not None and item.entity is not None and not view.system.why_read_only:
        if family.canonical is not None:
            where = _edit(view, *family.canonical)
            acts.append(link(where, "Edit canonical…", class_="btn"))
        else:
            acts.append(link(_edit(view, item.entity, item.key), "Edit…", class_="btn"))
    key = " ".join(filter(None, (item.partition, item.sort)))
    acts.append(el("button.btn.quiet", "Copy key", data_copy="self", data_text=key))
    return el(
        "div.dh",
        el(
            "div",
            el(
                "div.named",
                view.chip(name),
                el("b", el("bdi", item.title) if item.title else words),
                el("span.muted", words) if item.title else None,
            ),
            el("div", view.item_key(item)),
        ),
        el("div.acts", acts),
    )


def _edit(view: PageView, entity: EntitySchema, key: WireItem) -> str:
    table = view.system.schema.by_table[entity.table]
    partition, sort = key_texts(table, key)
    return view.at("edit", table=table.name, pk=partition, sk=sort)


def _problem(view: PageView, item: KnownItem, family: Family) -> Child:
    if item.entity is None and not item.support:
        return banner("warn", "No entity declares this item.")
    runs = view.system.design is not None and item.entity is not None
    if runs and relatives.read_entity(view.system, item) is None:
        return banner("bad", f"This item cannot be read as {item.kind}.")
    stale = next((one.stale for one in family.copies if _is_here(item, one)), ())
    if stale:
        fields_say = el("b", ", ".join(stale))
        way = link(view.at("streams"), "Verify and repair", class_="link")
        return banner("bad", "It differs from its canonical in ", fields_say, ". ", way)
    return None


def _fields(view: PageView, item: KnownItem) -> Html:
    if item.entity is None:
        rows = ((name, _value(view, item, name)) for name in sorted(item.wire))
        return el("div.links.fieldset", fields(rows))
    copy = item.entity.copy
    copied = set(copy.fields) if copy is not None else set()
    own = [a for a in item.entity.attributes if a.field not in copied]
    taken = [a for a in item.entity.attributes if a.field in copied]
    more = []
    if copy is not None and taken:
        how = "in the same transaction" if copy.sync == "transaction" else "by the stream"
        more = [
            el("h3", f"Copied from {copy.of}, {how}"),
            fields(_rows(view, item, taken)),
        ]
    declared = {a.name for a in item.entity.attributes}
    keys = {*item.table.key_attributes}
    keys |= {name for index in item.table.indexes for name in index.key_attributes}
    extra = sorted(set(item.wire) - declared - keys - {item.table.type_attribute})
    if extra:
        more.append(el("h3", "Not declared"))
        more.append(fields((name, _value(view, item, name)) for name in extra))
    return el("div.links.fieldset", fields(_rows(view, item, own)), *more)


def _rows(
    view: PageView, item: KnownItem, attributes: list[AttributeSchema]
) -> Iterator[tuple[Child, Child]]:
    for attribute in attributes:
        name = text(attribute.field, " ", el("small", type_words(attribute.type)))
        if attribute.field not in item.values:
            yield name, el("span.faint", "–")
            continue
        yield name, value_of(view, item, attribute)


def value_of(
    view: PageView, item: KnownItem, attribute: AttributeSchema, *, short: bool = False
) -> Child:
    """A field's value; an id links to its item. In a table it is one short line."""
    if vector := vector_text(item, attribute.name):
        return vector
    value = item.values.get(attribute.field)
    stored = item.wire.get(attribute.name, {})
    values: list[Any] = value if isinstance(value, list) else [value]
    are_texts = all(isinstance(one, str) for one in values)
    if stored and (not are_texts or stored.keys() & {"B", "BS"}):
        return value_line(stored) if short else _value(view, item, attribute.name, attribute)
    if not are_texts:
        return value_text(value, attribute)
    links = [_reference(view, item, attribute.field, one) for one in values]
    if not any(links):
        shown = value_text(value, attribute)
        return shortened(shown) if short and attribute.type == "id" else el("bdi", shown)
    out: list[Child] = []
    for at, (one, made) in enumerate(zip(values, links, strict=True)):
        out += [", " if at else None, made or one]
    return text(*out)


def _value(
    view: PageView, item: KnownItem, name: str, attribute: AttributeSchema | None = None
) -> Html:
    place = {"table": item.table.name, "pk": item.partition, "sk": item.sort}
    return value_tree(item.wire[name], attribute, view.at("value", **place, name=name))


def _reference(view: PageView, item: KnownItem, field: str, value: str) -> Html | None:
    found = relatives.references(view.system, item, field, value)
    if found is None:
        return None
    target, key = found
    table = view.system.schema.by_table[target.table]
    colour = view.system.palette.colour(target.name)
    return link(view.by_key(table, key), shortened(value), class_=f"ref {colour}")


def _relatives(view: PageView, item: KnownItem, family: Family) -> Html:
    parts: list[Child] = []
    if family.canonical is not None:
        (entity, key), found = family.canonical, family.stored
        parts.append(el("h3", "Canonical"))
        parts.append(_jump(view, entity.name, key, found, "" if found else "missing"))
    if family.copies:
        parts.append(el("h3", f"All copies: {len(family.copies)}"))
        parts += [_copy(view, one, here=_is_here(item, one)) for one in family.copies]
    holders = relatives.counters_of(view.system, item)
    if holders:
        parts.append(el("h3", "Counted on"))
        for holder, field, sync in holders:
            named = holder.entity.__name__
            how = "" if sync == "transaction" else ", by the stream"
            parts.append(_jump(view, named, holder.wire(), None, f"{field}{how}"))
    if item.indexes:
        parts.append(el("h3", "In indexes"))
        for index in item.indexes:
            first = partition_of(item.wire, index)
            where = view.partition(
                item.table.name, first, index.name, ipk=item.partition, isk=item.sort
            )
            shown_key = view.index_key(item, index, index.key_attributes)
            name = el("span.small", index.name)
            parts.append(link(where, name, el("span", shown_key), class_="jump"))
    return el("div.links", parts)


def _copy(view: PageView, one: relatives.Relative, *, here: bool) -> Html:
    if one.stored is None:
        return _jump(view, one.entity, one.key, None, state("bad", "missing"))
    if one.stale:
        return _jump(view, one.entity, one.key, one.stored, state("bad", f"stale: {one.stale[0]}"))
    return _jump(view, one.entity, one.key, one.stored, "this one" if here else one.by)


def _jump(view: PageView, name: str, key: WireItem, item: KnownItem | None, says: Child) -> Html:
    entity = view.system.entity(name)
    assert entity is not None, "relatives are of declared entities"
    table = view.system.schema.by_table[entity.table]
    texts = [scalar(key[one]) for one in table.key_attributes]
    templates = [entity.key.partition, entity.key.sort] if entity.key else [None, None]
    shown_key: list[Child] = []
    for at, (stored_text, template) in enumerate(zip(texts, templates, strict=False)):
        if at:
            shown_key.append(el("span.sep", "›", aria_hidden="true"))
        shown_key.append(view.key(stored_text, entity, template))
    go = el("span.go", says or (item.title if item else "") or "open")
    return link(view.by_key(table, key), view.chip(name), el("span", shown_key), go, class_="jump")


def _weight(item: KnownItem) -> str:
    entries = len(item.indexes)
    more = f", {entries} of them for {plural(entries, 'index', 'indexes')}" if entries else ""
    return (
        f"{' '.join(size(item.size))} · {units(item.read_units)} read units alone, "
        f"{units(2 * item.read_units)} consistent · {units(item.write_units)} write units to "
        f"change{more}"
    )
