"""A design as ElectroDB models in JSON, each an argument of `new Entity(...)`."""

from __future__ import annotations

import json
import re
from typing import Any

from keyfold_workbench.adopt.sources.electrodb import VERSION
from keyfold.design.schema import AttributeSchema, EntitySchema, KeyTemplates, Schema, TableSchema
from keyfold.design.template import Literal, Slot, Template
from keyfold.errors import KeyfoldError

_TYPES = {
    "number": "number",
    "decimal": "number",
    "boolean": "boolean",
    "list": "list",
    "map": "map",
    "model": "map",
    "any": "any",
}
_PADDED = re.compile(r"0(\d+)d")


def render(schema: Schema) -> str:
    return json.dumps(models(schema), indent=2, ensure_ascii=False) + "\n"


def models(schema: Schema) -> list[dict[str, Any]]:
    """A model for each entity, with its keys as templates."""
    return [
        _model(schema, schema.by_table[entity.table], entity)
        for entity in schema.entities
        if entity.key is not None
    ]


def _model(schema: Schema, table: TableSchema, entity: EntitySchema) -> dict[str, Any]:
    assert entity.key is not None
    indexes: dict[str, Any] = {
        "primary": _index(entity, entity.key, table.partition, table.sort),
    }
    for placement in entity.placements:
        index = table.index(placement.index)
        if index is None:
            continue
        if index.has_several:
            raise KeyfoldError(
                f"{entity.name}: {index.name} is keyed by {index.key_text}; ElectroDB's keys are "
                "one attribute each"
            )
        partition, *sort = index.key_attributes
        made = _index(entity, placement.key, partition, sort[0] if sort else None)
        kind = {"type": "local"} if index.local else {}
        indexes[placement.name] = {"index": index.name, **kind, **made}
    version = next((a.values[0] for a in entity.attributes if a.name == VERSION and a.values), "1")
    held = [a for a in entity.attributes if a.name != VERSION]
    return {
        "model": {
            "entity": entity.type_name or entity.name,
            "version": version,
            "service": schema.name,
        },
        "table": table.name,
        "attributes": {a.field: _attribute(a, entity) for a in held},
        "indexes": indexes,
    }


def _attribute(attribute: AttributeSchema, entity: EntitySchema) -> dict[str, Any]:
    made: dict[str, Any] = {"type": _TYPES.get(attribute.type, "string")}
    if attribute.values and attribute.type == "string":
        made["type"] = list(attribute.values)
    elif attribute.type.endswith("_set"):
        items = "number" if attribute.type == "number_set" else "string"
        made = {"type": "set", "items": items}
    elif attribute.stored.startswith("epoch"):
        made["type"] = "number"
    if attribute.name != attribute.field:
        made["field"] = attribute.name
    if not attribute.optional:
        made["required"] = True
    if not attribute.mutable:
        made["readOnly"] = True
    width = _width(attribute, entity)
    if width:
        made["padding"] = {"length": width, "char": "0"}
    return made


def _width(attribute: AttributeSchema, entity: EntitySchema) -> int:
    """The number of digits that a number has in keys."""
    keys = (entity.key, *(placement.key for placement in entity.placements))
    for key in keys:
        for template in (key.partition, key.sort) if key else ():
            for part in template.parts if template else ():
                if isinstance(part, Slot) and part.field == attribute.field:
                    padded = _PADDED.fullmatch(part.format.name)
                    if padded:
                        return int(padded[1])
    return 0


def _index(
    entity: EntitySchema, key: KeyTemplates, partition: str, sort: str | None
) -> dict[str, Any]:
    made = {"pk": {"field": partition, **_template(entity, key.partition)}}
    if sort and key.sort is not None:
        made["sk"] = {"field": sort, **_template(entity, key.sort)}
    return made


def _template(entity: EntitySchema, template: Template) -> dict[str, Any]:
    """The template in ElectroDB's notation, which has one letter case for the whole key."""
    slots = [part for part in template.parts if isinstance(part, Slot)]
    texts = [s for s in slots if _is_text(entity, s)]
    cases = {s.format.name for s in texts if s.format.name in ("lowercase", "uppercase", "lower")}
    others = [s.format.name for s in slots if not _is_known(s.format.name)]
    if others:
        raise KeyfoldError(
            f"{entity.name}: ElectroDB has no key format {others[0]!r}, as in {template.text!r}"
        )
    casing = "none"
    if cases:
        whole = "".join(part.text for part in template.parts if isinstance(part, Literal))
        lower = cases <= {"lowercase", "lower"}
        if (
            (lower and whole != whole.lower())
            or (not lower and whole != whole.upper())
            or (len({s.format.name for s in texts}) > 1)
        ):
            raise KeyfoldError(
                f"{entity.name}: ElectroDB writes a key in one case, which {template.text!r} is not"
            )
        casing = "lower" if lower else "upper"
    text = "".join(
        part.text if isinstance(part, Literal) else f"${{{part.field}}}" for part in template.parts
    )
    if any("${" in part.text for part in template.parts if isinstance(part, Literal)):
        raise KeyfoldError(
            f"{entity.name}: the text ${{ in {template.text!r} would be a placeholder in ElectroDB"
        )
    return {"template": text, "casing": casing}


def _is_text(entity: EntitySchema, slot: Slot) -> bool:
    held = entity.by_field.get(slot.field)
    return held is None or held.type in ("string", "id")


def _is_known(name: str) -> bool:
    return name in ("", "d", "lowercase", "uppercase", "lower") or (
        _PADDED.fullmatch(name) is not None or name.startswith(("iso", "epoch"))
    )
