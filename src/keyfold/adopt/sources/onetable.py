"""OneTable's schemas, as JSON: indexes, and models whose keys have value templates."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from keyfold.adopt.sources.imported import Imported, expect_mapping, refuse
from keyfold.adopt.sources.key_texts import template_of
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
    return "indexes" in data and "primary" in data["indexes"]


def read(data: Any, source: str, *, table: str = "") -> Imported:
    place = Place(source, 1)
    found = Imported("OneTable", source, name=str(data.get("name") or ""))
    params = data.get("params") or {}
    called = table or str(data.get("table") or data.get("name") or "onetable")
    if not table and not data.get("table"):
        found.questions.append("What is the table called? A OneTable schema does not say.")
    indexes = expect_mapping(data["indexes"], "indexes", place)
    primary = expect_mapping(indexes["primary"], "indexes.primary", place)
    if not isinstance(primary.get("hash"), str):
        refuse(primary, place, "indexes.primary needs hash: the partition key's attribute")
    made = TableSchema(
        called,
        primary["hash"],
        primary.get("sort"),
        indexes=tuple(
            _index(name, index, primary, place)
            for name, index in indexes.items()
            if name != "primary"
        ),
        type_attribute=str(params.get("typeField") or "_type"),
    )
    found.tables.append(made)
    iso = bool(params.get("isoDates"))
    for title, fields in data["models"].items():
        model = expect_mapping(fields, f"the model {title}", place)
        found.entities.append(_entity(title, model, made, params, found, place, iso=iso))
    return found


def _index(name: str, index: Any, primary: Mapping[str, Any], place: Place) -> Index:
    stated = expect_mapping(index, f"the index {name}", place)
    local = stated.get("type") == "local"
    projected = stated.get("project", "all")
    partition = primary["hash"] if local else stated.get("hash")
    if not isinstance(partition, str):
        refuse(stated, place, f"the index {name} needs hash")
    included = tuple(projected) if isinstance(projected, list) else ()
    kinds = {"keys": "KEYS_ONLY"}
    return Index(
        name,
        partition,
        stated.get("sort"),
        projection="INCLUDE" if included else kinds.get(str(projected), "ALL"),  # type: ignore[arg-type]
        included=included,
        local=local,
    )


def _entity(
    title: str,
    model: Mapping[str, Any],
    table: TableSchema,
    params: Mapping[str, Any],
    found: Imported,
    place: Place,
    *,
    iso: bool,
) -> EntitySchema:
    keys = {table.partition, table.sort}
    keys |= {n for index in table.indexes for n in (index.partition, index.sort)}
    held: dict[str, AttributeSchema] = {}
    for name, stated in model.items():
        if name == "_type" or (name in keys and isinstance(stated, dict) and "value" in stated):
            continue
        held[name] = _attribute(title, name, stated, found, iso=iso)
    if params.get("timestamps"):
        for name in ("created", "updated"):
            held.setdefault(name, _attribute(title, name, {"type": "date"}, found, iso=iso))
    key = _templates(title, model, (table.partition, table.sort), held, place)
    if key is None:
        refuse(model, place, f"the model {title} needs a value for {table.partition}")
    placements = []
    for index in table.indexes:
        placed = _templates(title, model, (index.partition, index.sort), held, place)
        if placed is not None:
            by_field = {a.field: a for a in held.values()}
            optional = [f for f in dict.fromkeys(placed.fields) if by_field[f].optional]
            when = there(*optional) if optional else None
            placements.append(Placement(index.name, index.name, placed, when=when))
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
    title: str, name: str, stated: Any, found: Imported, *, iso: bool
) -> AttributeSchema:
    described = stated if isinstance(stated, dict) else {"type": stated}
    kind = str(described.get("type") or "string").lower()
    disk = described.get("map") or name
    if "." in str(disk):
        found.questions.append(
            f"{title}.{name} is packed into {disk}; keyfold has no packed fields. Keep it there?"
        )
    values = tuple(str(each) for each in described.get("enum") or ())
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
        str(disk),
        name if name.isidentifier() else re.sub(r"\W", "_", name),
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
