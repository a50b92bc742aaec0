"""Tables of Terraform: `aws_dynamodb_table` in HCL, and in what `terraform show -json` prints."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from keyfold.design.schema import TableSchema
from keyfold.design.source import Place
from keyfold.runtime.table_description import table_schema
from keyfold_workbench.adopt.sources.material import (
    Imported,
    PlacedMapping,
    SourceError,
    known_type,
    with_place,
)

KIND = "aws_dynamodb_table"
_REFERENCE = re.compile(r"(?<!\$)\$\{([^{}]*)\}")
_ESCAPED = re.compile(r"([$%])\1\{")


def is_shown(data: Any) -> bool:
    """Whether this is output of `terraform show -json`, of a state or a plan."""
    return isinstance(data, dict) and "format_version" in data and "terraform_version" in data


def read_shown(data: Any, source: str) -> Imported:
    found = Imported("terraform show -json", source)
    shown = with_place(data, Place(source, 1))
    values = shown.mapping("values" if shown.get("values") else "planned_values")
    for resource in _resources(values.mapping("root_module")):
        if resource.get("type") == KIND and resource.get("mode", "managed") == "managed":
            found.tables.append(_table(resource.text("name"), resource.mapping("values"), found))
    if not found.tables:
        shown.refuse(f"it has no {KIND}")
    return found


def _resources(module: PlacedMapping) -> Iterator[PlacedMapping]:
    yield from module.mappings("resources")
    for child in module.mappings("child_modules"):
        yield from _resources(child)


def read(files: Mapping[str, str], source: str) -> Imported:
    """The tables of Terraform files by name, using defaults of variables and locals."""
    import hcl2
    from hcl2.utils import SerializationOptions
    from lark.exceptions import UnexpectedInput

    found = Imported("Terraform", source)
    known: dict[str, Any] = {}
    stated: list[tuple[str, Any, Place]] = []
    for file, text in files.items():
        try:
            data = hcl2.loads(
                text if text.endswith("\n") else f"{text}\n",
                serialization_options=SerializationOptions(strip_string_quotes=True),
            )
        except UnexpectedInput as error:
            line = getattr(error, "line", 1)
            raise SourceError(Place(file, line), "this is not Terraform's HCL") from None
        for block in data.get("variable") or ():
            for name, inner in block.items():
                if isinstance(inner, dict):
                    known[f"var.{name}"] = inner.get("default")
        for block in data.get("locals") or ():
            known |= {f"local.{name}": value for name, value in block.items()}
        for block in data.get("resource") or ():
            for name, inner in (block.get(KIND) or {}).items():
                stated.append((name, inner, _place(file, text, name)))
    for name, inner, place in stated:
        made = with_place(_resolve(inner, known), place)
        found.tables.append(_table(name, made, found, escaped=True))
    if not found.tables:
        raise SourceError(Place(source, 1), f"it has no resource {KIND!r}")
    return found


def _place(file: str, text: str, name: str) -> Place:
    at = re.search(rf'resource\s+"{KIND}"\s+"{re.escape(name)}"', text)
    return Place(file, text[: at.start()].count("\n") + 1 if at else 1)


def _resolve(value: Any, known: Mapping[str, Any], depth: int = 0) -> Any:
    """Replaces references to variables and locals with their values, if the files define them."""
    if isinstance(value, dict):
        return {name: _resolve(inner, known, depth) for name, inner in value.items()}
    if isinstance(value, list):
        return [_resolve(inner, known, depth) for inner in value]
    if not isinstance(value, str) or depth > 5:
        return value
    whole = _REFERENCE.fullmatch(value)
    if whole and known.get(whole[1]) is not None:
        return _resolve(known[whole[1]], known, depth + 1)

    def fill(match: re.Match[str]) -> str:
        given = known.get(match[1])
        return match[0] if given is None else str(given)

    made = _REFERENCE.sub(fill, value)
    return _resolve(made, known, depth + 1) if made != value else value


def _plain(value: Any) -> Any:
    """Texts without HCL's template escapes."""
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return _ESCAPED.sub(r"\1{", value) if isinstance(value, str) else value


def _table(
    name: str, stated: PlacedMapping, found: Imported, *, escaped: bool = False
) -> TableSchema:
    partition = stated.get("hash_key")
    if not isinstance(partition, str) or (escaped and _REFERENCE.search(partition)):
        stated.refuse(f"{KIND}.{name} needs hash_key as text")
    called = _table_name(name, stated.get("name"), found)
    if "dynamic" in stated:
        found.questions.append(f"{KIND}.{name} has dynamic blocks. Which attributes do they make?")
    if escaped:
        stated = with_place(_plain(stated), stated.place)
    described: dict[str, Any] = {
        "TableName": called,
        "KeySchema": _key(stated),
        "AttributeDefinitions": [
            {
                "AttributeName": each.text("name"),
                "AttributeType": known_type(each.text("type", "S"), each),
            }
            for each in _blocks(stated, "attribute")
        ],
        "BillingMode": stated.text("billing_mode", "PROVISIONED"),
        "StreamSpecification": {
            "StreamEnabled": stated.get("stream_enabled") in (True, "true"),
            "StreamViewType": stated.text("stream_view_type", "") or None,
        },
    }
    for block, member in (
        ("global_secondary_index", "GlobalSecondaryIndexes"),
        ("local_secondary_index", "LocalSecondaryIndexes"),
    ):
        described[member] = [
            {
                "IndexName": index.text("name"),
                "KeySchema": _key(index, stated.text("hash_key")),
                "Projection": {
                    "ProjectionType": index.text("projection_type", "ALL"),
                    "NonKeyAttributes": index.texts("non_key_attributes"),
                },
            }
            for index in _blocks(stated, block)
        ]
    ttl = next(iter(_blocks(stated, "ttl")), None)
    expires = ttl.text("attribute_name", "") if ttl is not None else ""
    enabled = ttl is not None and ttl.get("enabled", True) not in (False, "false")
    return table_schema(described, expires if enabled and expires else None)


def _blocks(stated: PlacedMapping, name: str) -> list[PlacedMapping]:
    found = stated.get(name)
    return [found] if isinstance(found, PlacedMapping) else stated.mappings(name)


def _table_name(name: str, stated: Any, found: Imported) -> str:
    if isinstance(stated, str) and "${" not in stated:
        return stated
    found.questions.append(
        f"What is the table {KIND}.{name} called? Terraform computes it: {stated}."
    )
    return name


def _key(stated: PlacedMapping, default: str = "") -> list[dict[str, str]]:
    schema = _blocks(stated, "key_schema")
    if schema:
        return [
            {"AttributeName": part.text("attribute_name"), "KeyType": part.text("key_type")}
            for part in schema
        ]
    partition = stated.text("hash_key", default) or default
    if not partition:
        stated.refuse("expected hash_key as text")
    parts = [{"AttributeName": partition, "KeyType": "HASH"}]
    sort = stated.text("range_key", "")
    return [*parts, {"AttributeName": sort, "KeyType": "RANGE"}] if sort else parts
