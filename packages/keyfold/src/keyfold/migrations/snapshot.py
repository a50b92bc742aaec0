"""A design's schema as JSON: its tables and entities at the last migration."""

from __future__ import annotations

import dataclasses
import hashlib
from pathlib import Path
from typing import Any

import orjson

from keyfold.design.schema import (
    AttributeSchema,
    Condition,
    EntitySchema,
    Follows,
    Index,
    KeyTemplates,
    Placement,
    Schema,
    StepSchema,
    TableSchema,
    VectorSchema,
)
from keyfold.design.shorthand import template, template_text
from keyfold.design.template import Template
from keyfold.errors import MigrationError
from keyfold_engine.expressions.parser import literal_condition
from keyfold_engine.expressions.text import condition_text

FORMAT = 2
_NOT_COMPARED = ("place", "at_once", "fits")


def dump(schema: Schema) -> bytes:
    """The parts of a schema that migrations compare, as stable JSON."""
    body = {
        "format": FORMAT,
        "design": schema.name,
        "tables": [_table(table) for table in schema.tables],
        "entities": [_entity(entity) for entity in schema.entities],
        "follows": [_record(each) for each in schema.follows],
    }
    return orjson.dumps(body, option=orjson.OPT_INDENT_2) + b"\n"


def load(data: bytes, origin: str = "the snapshot") -> Schema:
    """Load a dumped schema."""
    try:
        body = orjson.loads(data)
        if body["format"] != FORMAT:
            raise MigrationError(
                f"{origin} has format {body['format']}, and this keyfold reads {FORMAT}. Make the "
                "snapshot again with the keyfold that you use: keyfold migrations snapshot"
            )
        return Schema(
            name=body["design"],
            tables=tuple(_read_table(table) for table in body["tables"]),
            entities=tuple(_read_entity(entity) for entity in body["entities"]),
            follows=tuple(_read_record(each) for each in body["follows"]),
        )
    except (KeyError, TypeError, ValueError) as problem:
        raise MigrationError(f"{origin} is not a snapshot of a design: {problem!r}") from None


def save(schema: Schema, path: Path) -> bool:
    """Write the snapshot; returns whether it changed."""
    data = dump(schema)
    if path.exists() and path.read_bytes() == data:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return True


def read(path: Path) -> Schema | None:
    return load(path.read_bytes(), str(path)) if path.exists() else None


def fingerprint(table: TableSchema) -> str:
    """Equal for tables with the same keys and indexes, however they were created."""
    indexes = [
        [i.name, i.partition, i.sort, i.partition_type, i.sort_type, i.projection, i.local]
        for i in sorted(table.indexes, key=lambda index: index.name)
    ]
    included = {i.name: sorted(i.included) for i in table.indexes if i.included}
    body = [table.partition, table.sort, table.partition_type, table.sort_type, indexes, included]
    return hashlib.blake2b(
        orjson.dumps(body, option=orjson.OPT_SORT_KEYS), digest_size=8
    ).hexdigest()


def _table(table: TableSchema) -> dict[str, Any]:
    skipped = ("place", "silences", "indexes", "vectors", "description", "needs")
    body = _stated_fields(table, (*skipped, "prefixes"))
    if table.vectors:
        body["vectors"] = [
            _stated_fields(one, ("place", "silences", "intents")) for one in table.vectors
        ]
    body["indexes"] = [
        _stated_fields(index, ("place", "silences", "purpose", "holds", "sparse"))
        for index in table.indexes
    ]
    return body


def _read_table(body: dict[str, Any]) -> TableSchema:
    return TableSchema(
        **{
            **body,
            "indexes": tuple(Index(**_tuples(one)) for one in body["indexes"]),
            "vectors": tuple(VectorSchema(**_tuples(one)) for one in body.get("vectors", ())),
        }
    )


def _entity(entity: EntitySchema) -> dict[str, Any]:
    return {
        "name": entity.name,
        "table": entity.table,
        "type_name": entity.type_name,
        "role": entity.role,
        "key": _templates(entity.key),
        "attributes": [
            {"name": a.name, "field": a.field, "type": a.type, "optional": a.optional}
            | ({"stored": a.stored} if a.stored else {})
            | ({"in_key": True} if a.in_key else {})
            | ({"follows": a.follows} if a.follows else {})
            | ({"states": [[s.before, s.after] for s in a.states]} if a.states else {})
            for a in entity.attributes
        ],
        "placements": [
            {"name": p.name, "index": p.index, "key": _templates(p.key)}
            | ({"when": condition_text(p.when)} if p.when is not None else {})
            for p in entity.placements
        ],
    }


def _read_entity(body: dict[str, Any]) -> EntitySchema:
    key = _read_templates(body["key"])
    return EntitySchema(
        name=body["name"],
        table=body["table"],
        type_name=body["type_name"],
        role=body["role"],
        key=key,
        attributes=tuple(map(_read_attribute, body["attributes"])),
        placements=tuple(
            Placement(
                p["name"],
                p["index"],
                _read_templates(p["key"]) or KeyTemplates(Template(())),
                _read_condition(p.get("when")),
            )
            for p in body["placements"]
        ),
    )


def _read_attribute(body: dict[str, Any]) -> AttributeSchema:
    states = tuple(StepSchema(*step) for step in body.get("states", ()))
    follows = tuple(body.get("follows", ()))
    return AttributeSchema(**{**body, "states": states, "follows": follows})


def _read_condition(noted: str | None) -> Condition | None:
    return None if noted is None else literal_condition(noted)


def _record(each: Follows) -> dict[str, Any]:
    body = _stated_fields(each, _NOT_COMPARED)
    return body | ({"when": condition_text(each.when)} if each.when is not None else {})


def _read_record(body: dict[str, Any]) -> Follows:
    return Follows(**{**_tuples(body), "when": _read_condition(body.get("when"))})


def _templates(key: KeyTemplates | None) -> list[str] | None:
    if key is None:
        return None
    given = [one for one in (key.partition, key.sort) if one is not None]
    return [template_text(one) if one.apart else one.text for one in given]


def _read_templates(texts: list[str] | None) -> KeyTemplates | None:
    if texts is None:
        return None
    return KeyTemplates(*(template(text) for text in texts))


def _tuples(body: dict[str, Any]) -> dict[str, Any]:
    return {name: _as_tuple(value) for name, value in body.items()}


def _as_tuple(value: Any) -> Any:
    return tuple(map(_as_tuple, value)) if isinstance(value, list) else value


def _stated_fields(record: Any, skip: tuple[str, ...]) -> dict[str, Any]:
    """The fields of a record that differ from their defaults."""
    return {
        f.name: getattr(record, f.name)
        for f in dataclasses.fields(record)
        if f.name not in skip and getattr(record, f.name) != f.default
    }
