"""Tables of Terraform: `aws_dynamodb_table` in HCL, and in what `terraform show -json` prints."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from keyfold.adopt.described import table_schema
from keyfold.adopt.sources.imported import Imported, SourceError, refuse
from keyfold.adopt.sources.text_files import read_text
from keyfold.design.schema import TableSchema
from keyfold.design.source import Place
from keyfold.errors import KeyfoldError

KIND = "aws_dynamodb_table"
_REFERENCE = re.compile(r"(?<!\$)\$\{([^{}]*)\}")
_ESCAPED = re.compile(r"([$%])\1\{")


def is_shown(data: Any) -> bool:
    """Whether this is what `terraform show -json` prints, of a state or of a plan."""
    return isinstance(data, dict) and "format_version" in data and "terraform_version" in data


def read_shown(data: Any, source: str) -> Imported:
    found = Imported("terraform show -json", source)
    place = Place(source, 1)
    values = data.get("values") or data.get("planned_values") or {}
    for resource in _resources(values.get("root_module") or {}):
        if resource.get("type") == KIND and resource.get("mode", "managed") == "managed":
            stated = resource.get("values") or {}
            found.tables.append(_table(str(resource.get("name")), stated, found, place))
    if not found.tables:
        refuse(data, place, f"there is no {KIND} in it")
    return found


def _resources(module: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield from module.get("resources") or ()
    for child in module.get("child_modules") or ():
        yield from _resources(child)


def read(files: list[Path], source: str) -> Imported:
    """The tables of Terraform files, with the defaults of their variables and their locals."""
    try:
        import hcl2
        from hcl2.utils import SerializationOptions
        from lark.exceptions import UnexpectedInput
    except ModuleNotFoundError:
        raise KeyfoldError(
            "Terraform files need python-hcl2; install it with: pip install 'keyfold[adopt]'"
        ) from None
    found = Imported("Terraform", source)
    known: dict[str, Any] = {}
    stated: list[tuple[str, Any, Place]] = []
    for path in files:
        text = read_text(path)
        try:
            data = hcl2.loads(
                text if text.endswith("\n") else f"{text}\n",
                serialization_options=SerializationOptions(strip_string_quotes=True),
            )
        except UnexpectedInput as error:
            line = getattr(error, "line", 1)
            raise SourceError(Place(str(path), line), "this is not Terraform's HCL") from None
        for block in data.get("variable") or ():
            for name, inner in block.items():
                if isinstance(inner, dict):
                    known[f"var.{name}"] = inner.get("default")
        for block in data.get("locals") or ():
            known |= {f"local.{name}": value for name, value in block.items()}
        for block in data.get("resource") or ():
            for name, inner in (block.get(KIND) or {}).items():
                stated.append((name, inner, _place(path, text, name)))
    for name, inner, place in stated:
        found.tables.append(_table(name, _resolved(inner, known), found, place, escaped=True))
    if not found.tables:
        raise SourceError(Place(source, 1), f"there is no resource {KIND!r} in it")
    return found


def _place(path: Path, text: str, name: str) -> Place:
    at = re.search(rf'resource\s+"{KIND}"\s+"{re.escape(name)}"', text)
    return Place(str(path), text[: at.start()].count("\n") + 1 if at else 1)


def _resolved(value: Any, known: Mapping[str, Any], depth: int = 0) -> Any:
    """References to variables and locals as their values, where the files say them."""
    if isinstance(value, dict):
        return {name: _resolved(inner, known, depth) for name, inner in value.items()}
    if isinstance(value, list):
        return [_resolved(inner, known, depth) for inner in value]
    if not isinstance(value, str) or depth > 5:
        return value
    whole = _REFERENCE.fullmatch(value)
    if whole and known.get(whole[1]) is not None:
        return _resolved(known[whole[1]], known, depth + 1)

    def filled(match: re.Match[str]) -> str:
        given = known.get(match[1])
        return match[0] if given is None else str(given)

    made = _REFERENCE.sub(filled, value)
    return _resolved(made, known, depth + 1) if made != value else value


def _plain(value: Any) -> Any:
    """Texts without HCL's escapes of what would be templates."""
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return _ESCAPED.sub(r"\1{", value) if isinstance(value, str) else value


def _table(
    name: str, stated: Mapping[str, Any], found: Imported, place: Place, *, escaped: bool = False
) -> TableSchema:
    partition = stated.get("hash_key")
    if not isinstance(partition, str) or (escaped and _REFERENCE.search(partition)):
        refuse(stated, place, f"{KIND}.{name} needs hash_key as text")
    called = _called(name, stated.get("name"), found)
    stated = _plain(stated) if escaped else stated
    partition = stated["hash_key"]
    attributes = _blocks(stated.get("attribute"))
    if "dynamic" in stated:
        found.questions.append(f"{KIND}.{name} has dynamic blocks. Which attributes do they make?")
    described: dict[str, Any] = {
        "TableName": called,
        "KeySchema": _key(stated, f"{KIND}.{name}", place),
        "AttributeDefinitions": [
            {"AttributeName": each.get("name"), "AttributeType": each.get("type", "S")}
            for each in attributes
        ],
        "BillingMode": stated.get("billing_mode") or "PROVISIONED",
        "StreamSpecification": {
            "StreamEnabled": bool(stated.get("stream_enabled")),
            "StreamViewType": stated.get("stream_view_type"),
        },
    }
    for block, member in (
        ("global_secondary_index", "GlobalSecondaryIndexes"),
        ("local_secondary_index", "LocalSecondaryIndexes"),
    ):
        described[member] = [
            {
                "IndexName": index.get("name"),
                "KeySchema": _key(
                    {"hash_key": partition, **_stated(index)}, f"{KIND}.{name} {block}", place
                ),
                "Projection": {
                    "ProjectionType": index.get("projection_type") or "ALL",
                    "NonKeyAttributes": index.get("non_key_attributes") or [],
                },
            }
            for index in _blocks(stated.get(block))
        ]
    ttl = next(iter(_blocks(stated.get("ttl"))), {})
    enabled = ttl.get("enabled", True) not in (False, "false") and ttl.get("attribute_name")
    return table_schema(described, str(ttl["attribute_name"]) if enabled else None)


def _stated(index: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in index.items() if value}


def _blocks(value: Any) -> list[Mapping[str, Any]]:
    found = value if isinstance(value, list) else [value] if isinstance(value, dict) else []
    return [each for each in found if isinstance(each, dict)]


def _called(name: str, stated: Any, found: Imported) -> str:
    if isinstance(stated, str) and "${" not in stated:
        return stated
    found.questions.append(
        f"What is the table {KIND}.{name} called? Terraform computes it: {stated}."
    )
    return name


def _key(stated: Mapping[str, Any], what: str, place: Place) -> list[dict[str, str]]:
    parts = [{"AttributeName": stated.get("hash_key"), "KeyType": "HASH"}]
    if stated.get("range_key"):
        parts.append({"AttributeName": stated["range_key"], "KeyType": "RANGE"})
    if not all(isinstance(part["AttributeName"], str) for part in parts):
        refuse(stated, place, f"{what} needs hash_key")
    return parts  # type: ignore[return-value]
