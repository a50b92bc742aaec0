"""Tables of CloudFormation and SAM templates, CDK's output and Serverless Framework files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from keyfold.design.schema import KeyType, TableSchema
from keyfold.design.source import Place
from keyfold.runtime.table_description import table_schema
from keyfold_engine.limits import INDEX_KEY_ATTRIBUTES
from keyfold_workbench.adopt.sources.material import Imported, PlacedMapping, projection, with_place

TABLES = ("AWS::DynamoDB::Table", "AWS::DynamoDB::GlobalTable")
SIMPLE = "AWS::Serverless::SimpleTable"
_SIMPLE_TYPES: dict[str, KeyType] = {"String": "S", "Number": "N", "Binary": "B"}
_VARIABLE = re.compile(r"\$\{([^${}]+)\}")


@dataclass(frozen=True)
class Known:
    """Values of names; `everywhere` substitutes in every text rather than only in Fn::Sub."""

    lookup: Callable[[str], Any] = lambda name: None  # noqa: ARG005
    everywhere: bool = False


def is_template(data: Any) -> bool:
    return isinstance(data, dict) and isinstance(data.get("Resources"), dict)


def read(data: Any, source: str) -> Imported:
    """The tables of a template."""
    template = with_place(data, Place(source, 1))
    found = Imported("CloudFormation", source)
    parameters = template.mapping("Parameters")

    def default_of(name: str) -> Any:
        stated = parameters.get(name)
        return stated.get("Default") if isinstance(stated, dict) else None

    resources = template.mapping("Resources")
    found.tables += _tables(resources, Known(default_of), found)
    if not found.tables:
        resources.refuse("its resources have no AWS::DynamoDB::Table")
    return found


def read_serverless(data: Any, source: str) -> Imported:
    """The tables of a serverless.yml; resolves `${self:...}` within it."""
    stated = with_place(data, Place(source, 1))
    found = Imported("Serverless Framework", source, name=_service(stated))
    several = isinstance(stated.get("resources"), list)
    parts = stated.mappings("resources") if several else [stated.mapping("resources")]
    known = Known(lambda name: _own(stated, name), everywhere=True)
    for part in parts:
        found.tables += _tables(part.mapping("Resources"), known, found)
    if not found.tables:
        stated.refuse("resources.Resources has no AWS::DynamoDB::Table")
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


def _tables(resources: PlacedMapping, known: Known, found: Imported) -> Iterator[TableSchema]:
    for logical, resource in resources.items():
        if not isinstance(resource, PlacedMapping):
            continue
        kind = resource.get("Type")
        if kind == SIMPLE:
            yield _simple(logical, resource.mapping("Properties"), known, found)
        elif kind in TABLES:
            yield _table(logical, resource.mapping("Properties"), known, found)


def _name(logical: str, stated: Any, known: Known, found: Imported) -> str:
    if stated is None:
        return logical
    name = _text(stated, known)
    if name is None:
        found.questions.append(
            f"What is the table {logical} called? The template computes it: {_excerpt(stated)}."
        )
        return logical
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-") or logical


def _excerpt(value: Any) -> str:
    return str(value).replace("\n", " ")[:120]


def _text(value: Any, known: Known) -> str | None:
    """A text, as far as the template defines it."""
    if isinstance(value, str):
        return _substitute(value, known) if known.everywhere else value
    if isinstance(value, int):
        return str(value)
    if isinstance(value, dict) and len(value) == 1:
        function, inner = next(iter(value.items()))
        if function == "Ref":
            given = known.lookup(str(inner))
            return None if given is None else str(given)
        if function == "Fn::Sub" and isinstance(inner, str):
            return _substitute(inner, known)
        if function == "Fn::Join" and isinstance(inner, list) and len(inner) == 2:
            parts = [_text(part, known) for part in inner[1]]
            if all(part is not None for part in parts):
                return str(inner[0]).join(part or "" for part in parts)
    return None


def _substitute(text: str, known: Known) -> str | None:
    """A text with its variables substituted; empty if one is unknown."""
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


def _simple(logical: str, properties: PlacedMapping, known: Known, found: Imported) -> TableSchema:
    key = properties.mapping("PrimaryKey")
    kind = key.text("Type", "String")
    if kind not in _SIMPLE_TYPES:
        key.refuse(f"the key's Type cannot be {kind!r}; it is {', '.join(_SIMPLE_TYPES)}")
    return TableSchema(
        _name(logical, properties.get("TableName"), known, found),
        partition=key.text("Name", "id"),
        sort=None,
        partition_type=_SIMPLE_TYPES[kind],
        type_attribute=None,
    )


def _table(logical: str, properties: PlacedMapping, known: Known, found: Imported) -> TableSchema:
    described: dict[str, Any] = {
        "TableName": _name(logical, properties.get("TableName"), known, found),
        "KeySchema": key_schema(properties, f"the table {logical}", known),
        "AttributeDefinitions": definitions(properties, f"the table {logical}", known),
    }
    for member in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
        described[member] = [
            {
                "IndexName": _text(index.get("IndexName"), known) or f"Index{number}",
                "KeySchema": key_schema(index, f"an index of {logical}", known),
                "Projection": projection(index),
            }
            for number, index in enumerate(properties.mappings(member))
        ]
    view = _text(properties.mapping("StreamSpecification").get("StreamViewType"), known)
    described["StreamSpecification"] = {"StreamEnabled": bool(view), "StreamViewType": view}
    ttl = properties.mapping("TimeToLiveSpecification")
    enabled = str(ttl.get("Enabled")).lower() == "true"
    billing = _text(properties.get("BillingMode"), known)
    described["BillingMode"] = "PAY_PER_REQUEST" if billing == "PAY_PER_REQUEST" else "PROVISIONED"
    return table_schema(described, _text(ttl.get("AttributeName"), known) if enabled else None)


def key_schema(owner: PlacedMapping, what: str, known: Known) -> list[dict[str, str]]:
    """The key attributes, partition first."""
    parts = []
    for part in owner.mappings("KeySchema"):
        name, kind = _text(part.get("AttributeName"), known), part.get("KeyType")
        if not name or kind not in ("HASH", "RANGE"):
            part.refuse(f"{what}: a key is AttributeName and KeyType (HASH or RANGE)")
        parts.append({"AttributeName": name, "KeyType": str(kind)})
    kinds = [part["KeyType"] for part in parts]
    most = INDEX_KEY_ATTRIBUTES if "IndexName" in owner else 1
    if not 1 <= kinds.count("HASH") <= most or kinds.count("RANGE") > most:
        owner.refuse(
            f"{what} needs a KeySchema with its partition key (one HASH, and perhaps one RANGE)"
            if most == 1
            else f"{what} needs a KeySchema with its partition key (1 to {most} HASH, and up to "
            f"{most} RANGE)"
        )
    return sorted(parts, key=lambda part: part["KeyType"])


def definitions(properties: PlacedMapping, what: str, known: Known) -> list[dict[str, str]]:
    """The types of key attributes."""
    found = []
    for part in properties.mappings("AttributeDefinitions"):
        name, kind = _text(part.get("AttributeName"), known), part.get("AttributeType")
        if not name or kind not in ("S", "N", "B"):
            part.refuse(f"{what}: an attribute has a name and a type S, N or B")
        found.append({"AttributeName": name, "AttributeType": str(kind)})
    if not found:
        properties.refuse(f"{what} needs AttributeDefinitions")
    return found
