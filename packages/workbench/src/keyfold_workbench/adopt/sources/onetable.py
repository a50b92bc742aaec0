"""OneTable's schemas in JSON: indexes, and models with value templates as keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keyfold_workbench.adopt.sources.key_texts import template_of
from keyfold_workbench.adopt.sources.material import Imported, PlacedMapping, identifier, with_place
from keyfold.design.condition import there
from keyfold.design.schema import (
    AttributeSchema,
    EntitySchema,
    Index,
    KeyTemplates,
    Placement,
    TableSchema,
)
from keyfold.design.source import Place
from keyfold.review.draft import names

_TYPES = {
    "string": "string",
    "number": "decimal",
    "boolean": "boolean",
    "date": "timestamp",
    "object": "map",
    "array": "list",
    "set": "string_set",
    "buffer": "binary",
    "arraybuffer": "binary",
    "binary": "binary",
}


def is_schema(data: Any) -> bool:
    if not isinstance(data, dict) or not isinstance(data.get("models"), dict):
        return False
    return isinstance(data.get("indexes"), dict) and "primary" in data["indexes"]


def read(data: Any, source: str, *, table: str = "") -> Imported:
    stated = with_place(data, Place(source, 1))
    found = Imported("OneTable", source, name=stated.text("name", ""))
    params = stated.mapping("params")
    called = table or stated.text("table", "") or stated.text("name", "") or "onetable"
    if not table and not stated.get("table"):
        found.questions.append("What is the table called? A OneTable schema does not say.")
    primary = stated.mapping("indexes").mapping("primary")
    made = TableSchema(
        called,
        primary.text("hash"),
        primary.text("sort", "") or None,
        indexes=tuple(
            _index(name, index, primary)
            for name, index in stated.each("indexes")
            if name != "primary"
        ),
        type_attribute=params.text("typeField", "_type"),
    )
    found.tables.append(made)
    for title, model in stated.each("models"):
        found.entities.append(_entity(title, model, made, params, found))
    return found


def _index(name: str, stated: PlacedMapping, primary: PlacedMapping) -> Index:
    local = stated.get("type") == "local"
    several = isinstance(stated.get("project"), list)
    included = tuple(stated.texts("project")) if several else ()
    keys = not several and stated.text("project", "all") == "keys"
    return Index(
        name,
        primary.text("hash") if local else stated.text("hash"),
        stated.text("sort", "") or None,
        projection="INCLUDE" if included else "KEYS_ONLY" if keys else "ALL",
        included=included,
        local=local,
    )


def _entity(
    title: str,
    model: PlacedMapping,
    table: TableSchema,
    params: PlacedMapping,
    found: Imported,
) -> EntitySchema:
    keys = {*table.key_attributes}
    keys |= {name for index in table.indexes for name in index.key_attributes}
    iso, place = bool(params.get("isoDates")), model.place
    held: dict[str, AttributeSchema] = {}
    for name, stated in model.items():
        if name == "_type" or (name in keys and isinstance(stated, dict) and "value" in stated):
            continue
        described = (
            stated if isinstance(stated, PlacedMapping) else with_place({"type": stated}, place)
        )
        held[name] = _attribute(title, name, described, found, iso=iso)
    if params.get("timestamps"):
        for name in ("created", "updated"):
            stamp = with_place({"type": "date"}, place)
            held.setdefault(name, _attribute(title, name, stamp, found, iso=iso))
    key = _templates(title, model, (table.partition, table.sort), held, place)
    if key is None:
        model.refuse(f"the model {title} needs a value for {table.partition}")
    placements = []
    for index in table.indexes:
        partition, *sorts = index.key_attributes
        own = _templates(title, model, (partition, sorts[0] if sorts else None), held, place)
        if own is not None:
            by_field = {a.field: a for a in held.values()}
            optional = [f for f in dict.fromkeys(own.fields) if by_field[f].optional]
            when = there(*optional) if optional else None
            placements.append(Placement(index.name, index.name, own, when=when))
    name = names.class_name(title)
    return EntitySchema(
        name=name,
        table=table.name,
        key=key,
        attributes=tuple(held.values()),
        placements=tuple(placements),
        type_name=title if title != name else "",
    )


def _attribute(
    title: str, name: str, described: PlacedMapping, found: Imported, *, iso: bool
) -> AttributeSchema:
    kind = described.text("type", "string").lower()
    disk = described.text("map", "") or name
    if "." in disk:
        found.questions.append(
            f"{title}.{name} is packed into {disk}; keyfold has no packed fields. Keep it there?"
        )
    values = tuple(described.texts("enum"))
    stored = ""
    if kind == "date":
        stored = "iso_ms" if iso or described.get("isoDates") else "epoch_ms"
        if described.get("ttl"):
            stored = "epoch"
    unique = described.get("unique")
    if unique:
        found.questions.append(
            f"{title}.{name} is unique by OneTable's own items (_Unique). Keep them?"
        )
    return AttributeSchema(
        disk,
        identifier(name),
        _TYPES.get(kind, "any"),
        optional=not (
            described.get("required") or described.get("generate") or "default" in described
        ),
        values=values if all("," not in value for value in values) else (),
        stored=stored,
    )


def _templates(
    title: str,
    model: Mapping[str, Any],
    attributes: tuple[str, str | None],
    held: Mapping[str, AttributeSchema],
    place: Place,
) -> KeyTemplates | None:
    templates = []
    for attribute in attributes:
        if attribute is None:
            continue
        stated = model.get(attribute)
        if isinstance(stated, dict) and isinstance(stated.get("value"), str):
            templates.append(template_of(stated["value"], held, f"{title}.{attribute}", place))
        elif attribute in held:
            templates.append(template_of(f"${{{attribute}}}", held, f"{title}.{attribute}", place))
        else:
            return None
    return KeyTemplates(*templates)
