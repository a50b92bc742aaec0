"""Tables of CloudFormation and SAM templates, CDK's output and Serverless Framework files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from keyfold.adopt.described import table_schema
from keyfold.adopt.sources.imported import Imported, PlacedMapping, expect_mapping, refuse
from keyfold.design.schema import TableSchema
from keyfold.design.source import Place

TABLES = ("AWS::DynamoDB::Table", "AWS::DynamoDB::GlobalTable")
SIMPLE = "AWS::Serverless::SimpleTable"
_SIMPLE_TYPES = {"String": "S", "Number": "N", "Binary": "B"}
_VARIABLE = re.compile(r"\$\{([^${}]+)\}")


@dataclass(frozen=True)
class Known:
    """What names stand for; `everywhere` says that every text is filled in, not Fn::Sub alone."""

    lookup: Callable[[str], Any] = lambda name: None  # noqa: ARG005
    everywhere: bool = False


def is_template(data: Any) -> bool:
    return isinstance(data, dict) and isinstance(data.get("Resources"), dict)


def read(data: Any, source: str) -> Imported:
    """The tables of a template."""
    place = Place(source, 1)
    found = Imported("CloudFormation", source)
    parameters = data.get("Parameters") or {}

    def known(name: str) -> Any:
        stated = parameters.get(name)
        return stated.get("Default") if isinstance(stated, dict) else None

    found.tables += _tables(data["Resources"], Known(known), found, place)
    if not found.tables:
        refuse(data["Resources"], place, "there is no AWS::DynamoDB::Table among the resources")
    return found


def read_serverless(data: Any, source: str) -> Imported:
    """The tables of a serverless.yml; `${self:...}` is looked up in it."""
    place = Place(source, 1)
    found = Imported("Serverless Framework", source, name=_service(data))
    resources = data.get("resources") or {}
    parts = resources if isinstance(resources, list) else [resources]
    for part in parts:
        inner = part.get("Resources") if isinstance(part, dict) else None
        if inner is None:
            continue
        known = Known(lambda name: _own(data, name), everywhere=True)
        found.tables += _tables(expect_mapping(inner, "resources", place), known, found, place)
    if not found.tables:
        refuse(data, place, "there is no AWS::DynamoDB::Table under resources: Resources:")
    return found


def _service(data: Mapping[str, Any]) -> str:
    service = data.get("service")
    return str(service.get("name", "")) if isinstance(service, dict) else str(service or "")


def _own(data: Mapping[str, Any], name: str) -> Any:
    """`self:custom.table`, `opt:stage, 'dev'`, `sls:stage`."""
    path, _, default = (part.strip() for part in name.partition(","))
    if path.startswith("self:"):
        found: Any = data
        for step in path[5:].split("."):
            found = found.get(step) if isinstance(found, dict) else None
        if isinstance(found, str):
            return _VARIABLE.sub(lambda m: str(_own(data, m[1]) or m[0]), found)
        if found is not None:
            return found
    return default.strip("'\"") or None


def _tables(
    resources: Mapping[str, Any], known: Known, found: Imported, place: Place
) -> Iterator[TableSchema]:
    for logical, resource in resources.items():
        if not isinstance(resource, dict):
            continue
        kind = resource.get("Type")
        if kind == SIMPLE:
            yield _simple(logical, resource, known, found)
        elif kind in TABLES:
            properties = expect_mapping(
                resource.get("Properties"), f"Properties of {logical}", _place(resource, place)
            )
            yield _table(logical, properties, known, found, _place(properties, place))


def _place(value: Any, place: Place) -> Place:
    return value.place if isinstance(value, PlacedMapping) else place


def _name(logical: str, stated: Any, known: Known, found: Imported) -> str:
    if stated is None:
        return logical
    name = _text(stated, known)
    if name is None:
        found.questions.append(
            f"What is the table {logical} called? The template computes it: {_shown(stated)}."
        )
        return logical
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-") or logical


def _shown(value: Any) -> str:
    return str(value).replace("\n", " ")[:120]


def _text(value: Any, known: Known) -> str | None:
    """A text as far as the template itself says it."""
    if isinstance(value, str):
        return _filled(value, known) if known.everywhere else value
    if isinstance(value, int):
        return str(value)
    if isinstance(value, dict) and len(value) == 1:
        function, inner = next(iter(value.items()))
        if function == "Ref":
            given = known.lookup(str(inner))
            return None if given is None else str(given)
        if function == "Fn::Sub" and isinstance(inner, str):
            return _filled(inner, known)
        if function == "Fn::Join" and isinstance(inner, list) and len(inner) == 2:
            parts = [_text(part, known) for part in inner[1]]
            if all(part is not None for part in parts):
                return str(inner[0]).join(part or "" for part in parts)
    return None


def _filled(text: str, known: Known) -> str | None:
    """A text with its variables' values; nothing where one is not known."""
    whole = True

    def fill(match: re.Match[str]) -> str:
        nonlocal whole
        if match[1].startswith("!"):
            return f"${{{match[1][1:]}}}"
        given = known.lookup(match[1])
        if given is None:
            whole = False
        return "" if given is None else str(given)

    made = _VARIABLE.sub(fill, text)
    return made if whole else None


def _simple(
    logical: str, resource: Mapping[str, Any], known: Known, found: Imported
) -> TableSchema:
    properties = resource.get("Properties") or {}
    key = properties.get("PrimaryKey") or {"Name": "id", "Type": "String"}
    return TableSchema(
        _name(logical, properties.get("TableName"), known, found),
        partition=str(key.get("Name", "id")),
        sort=None,
        partition_type=_SIMPLE_TYPES.get(str(key.get("Type", "String")), "S"),  # type: ignore[arg-type]
        type_attribute=None,
    )


def _table(
    logical: str, properties: Mapping[str, Any], known: Known, found: Imported, place: Place
) -> TableSchema:
    described = dict(properties)
    described["TableName"] = _name(logical, properties.get("TableName"), known, found)
    described["KeySchema"] = key_schema(properties, f"the table {logical}", known, place)
    described["AttributeDefinitions"] = _definitions(properties, logical, known, place)
    for member in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
        described[member] = [
            {
                **index,
                "IndexName": _text(index.get("IndexName"), known) or f"Index{number}",
                "KeySchema": key_schema(index, f"an index of {logical}", known, place),
            }
            for number, index in enumerate(properties.get(member) or ())
            if isinstance(index, dict)
        ]
    stream = properties.get("StreamSpecification")
    if isinstance(stream, dict):
        described["StreamSpecification"] = {**stream, "StreamEnabled": True}
    ttl = properties.get("TimeToLiveSpecification")
    enabled = isinstance(ttl, dict) and str(ttl.get("Enabled")).lower() == "true"
    billing = _text(properties.get("BillingMode"), known)
    described["BillingMode"] = "PAY_PER_REQUEST" if billing == "PAY_PER_REQUEST" else "PROVISIONED"
    return table_schema(described, _text(ttl["AttributeName"], known) if enabled and ttl else None)


def key_schema(
    owner: Mapping[str, Any], what: str, known: Known, place: Place
) -> list[dict[str, str]]:
    """The key attributes, the partition first."""
    stated = owner.get("KeySchema")
    if not isinstance(stated, list) or not stated:
        refuse(owner, place, f"{what} needs a KeySchema with its partition key")
    parts = []
    for part in stated:
        name = _text(part.get("AttributeName"), known) if isinstance(part, dict) else None
        kind = part.get("KeyType") if isinstance(part, dict) else None
        if name is None or kind not in ("HASH", "RANGE"):
            refuse(part, place, f"{what}: a key is AttributeName and KeyType (HASH or RANGE)")
        parts.append({"AttributeName": name, "KeyType": str(kind)})
    if [part["KeyType"] for part in parts].count("HASH") < 1:
        refuse(owner, place, f"{what} has no HASH key")
    return sorted(parts, key=lambda part: part["KeyType"])


def _definitions(
    properties: Mapping[str, Any], logical: str, known: Known, place: Place
) -> list[dict[str, str]]:
    stated = properties.get("AttributeDefinitions")
    if not isinstance(stated, list):
        refuse(properties, place, f"the table {logical} needs AttributeDefinitions")
    found = []
    for part in stated:
        name = _text(part.get("AttributeName"), known) if isinstance(part, dict) else None
        kind = part.get("AttributeType") if isinstance(part, dict) else None
        if name is None or kind not in ("S", "N", "B"):
            refuse(
                part, place, f"the table {logical}: an attribute has a name and a type S, N or B"
            )
        found.append({"AttributeName": name, "AttributeType": str(kind)})
    return found
