"""A design as the YAML of a design file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from keyfold.design import records, shorthand
from keyfold.design.schema import (
    AttributeSchema,
    EntitySchema,
    Index,
    KeyTemplates,
    KeyType,
    PatternSchema,
    Schema,
    SortCondition,
    TableSchema,
)
from keyfold.design.template import template_text


def dumps(schema: Schema) -> str:
    """A design as YAML text."""
    return yaml.dump(
        _yaml_schema(schema),
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        width=100,
        default_flow_style=None,
    )


def dump(schema: Schema, path: str | Path) -> None:
    """Write a design file."""
    Path(path).write_text(dumps(schema), encoding="utf-8")


class _Dumper(yaml.SafeDumper):
    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002
        super().increase_indent(flow, False)


def _yaml_schema(schema: Schema) -> dict[str, Any]:
    own = ("name", "tables", "entities", "patterns", "searches", "stated", "before", "observed")
    out: dict[str, Any] = {"design": schema.name} if schema.name else {}
    rest = records.as_yaml(schema, skip=own)
    for word in ("description", "enforced"):
        if word in rest:
            out[word] = rest.pop(word)
    out["tables"] = {t.name: _yaml_table(t) for t in schema.tables}
    out["entities"] = {e.name: _yaml_entity(e, schema) for e in schema.entities}
    out["patterns"] = {p.name: _yaml_pattern(p, schema) for p in schema.patterns}
    out["searches"] = {s.name: records.as_yaml(s, skip=("name", "table")) for s in schema.searches}
    out.update(rest)
    out["stated"] = {each.about: each.value for each in schema.stated}
    if schema.before is not None:
        out["before"] = _yaml_schema(schema.before)
    if schema.observed is not None:
        out["observed"] = _yaml_schema(schema.observed)
    return {word: value for word, value in out.items() if value}


def _yaml_key(owner: TableSchema | Index) -> Any:
    if isinstance(owner, Index) and owner.has_several:
        sides = {"partition": owner.partition_types, "sort": owner.sort_types}
        return {side: _yaml_types(types) for side, types in sides.items() if types}
    return _yaml_types(owner.key_types)


def _yaml_types(types: dict[str, KeyType]) -> list[str] | dict[str, KeyType]:
    return types if {*types.values()} != {"S"} else list(types)


_KEY_FIELDS = ("partition", "sort", "partition_type", "sort_type")
_OWN_OF_TABLES = ("name", "indexes", *_KEY_FIELDS)


def _yaml_table(table: TableSchema) -> dict[str, Any]:
    out = {"key": _yaml_key(table), **records.as_yaml(table, skip=_OWN_OF_TABLES)}
    if table.indexes:
        out["indexes"] = {
            index.name: {
                "key": _yaml_key(index),
                **records.as_yaml(index, skip=("name", *_KEY_FIELDS)),
            }
            for index in table.indexes
        }
    return out


def _templates(key: KeyTemplates, owner: TableSchema | Index) -> dict[str, str]:
    return {name: template_text(one) for name, _, one in owner.templates(key)}


def _yaml_entity(entity: EntitySchema, schema: Schema) -> dict[str, Any]:
    table = schema.by_table[entity.table]
    out: dict[str, Any] = {"table": table.name} if len(schema.tables) > 1 else {}
    if entity.key is not None:
        out["key"] = _templates(entity.key, table)
    placed: dict[str, list[dict[str, Any]]] = {}
    for placement in entity.placements:
        index = table.index(placement.index)
        if index is None:
            continue
        stated = records.as_yaml(placement, skip=("name", "index", "key"))
        named = {} if placement.name == placement.index else {"name": placement.name}
        placed.setdefault(index.name, []).append(
            {**_templates(placement.key, index), **named, **stated}
        )
    if placed:
        out["indexes"] = {n: keys[0] if len(keys) == 1 else keys for n, keys in placed.items()}
    if entity.attributes:
        out["attributes"] = {a.field: _yaml_attribute(a) for a in entity.attributes}
    return {
        **out,
        **records.as_yaml(entity, skip=("name", "table", "key", "attributes", "placements")),
    }


def _yaml_attribute(attribute: AttributeSchema) -> Any:
    short = shorthand.attribute_texts(attribute)
    if short is not None:
        return short
    skip = ("field", "name") if attribute.name == attribute.field else ("field",)
    stated = records.as_yaml(attribute, skip=(*skip, "states"))
    return {**stated, "states": _yaml_states(attribute)} if attribute.states else stated


def _yaml_states(attribute: AttributeSchema) -> dict[str, Any]:
    found: dict[str, dict[str, str]] = {}
    for step in attribute.states:
        found.setdefault(step.before, {})[step.after] = step.by
    return {
        before: several if any(several.values()) else list(several)
        for before, several in found.items()
    }


def _yaml_pattern(pattern: PatternSchema, schema: Schema) -> dict[str, Any]:
    out: dict[str, Any] = {pattern.kind: list(pattern.entities) or "everything"}
    if len(pattern.entities) == 1:
        out[pattern.kind] = pattern.entities[0]
    first = schema.by_entity.get(pattern.entities[0]) if pattern.entities else None
    if len(schema.tables) > 1 and (first is None or first.table != pattern.table):
        out["table"] = pattern.table
    if pattern.index:
        out["index"] = pattern.index
    if pattern.partition is not None:
        shapes = (pattern.partition, *pattern.other_partitions)
        texts = [template_text(shape) for shape in shapes]
        out["partition"] = texts if len(texts) > 1 else texts[0]
    if pattern.condition != SortCondition():
        raw = pattern.condition.raw
        out["condition"] = raw or records.as_yaml(pattern.condition)
    if pattern.limit is not None:
        out["limit"] = pattern.limit
    if pattern.limit_parameter:
        out["limit_parameter" if "limit" in out else "limit"] = pattern.limit_parameter
    done = ("name", "entities", "kind", "table", "index", "partition", "other_partitions")
    return {
        **out,
        **records.as_yaml(pattern, skip=(*done, "condition", "limit", "limit_parameter")),
    }
