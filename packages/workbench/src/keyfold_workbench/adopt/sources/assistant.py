"""`dynamodb_data_model.json` of AWS's design assistant: tables, items, access patterns."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from keyfold_workbench.adopt.description import table_schema
from keyfold_workbench.adopt.sources.cloudformation import Known, definitions, key_schema
from keyfold_workbench.adopt.sources.material import Imported, projection, wire_item, with_place
from keyfold.design.source import Place

_READS = {"Query": "query", "GetItem": "get", "Scan": "scan"}


def is_model(data: Any) -> bool:
    return isinstance(data, dict) and isinstance(data.get("tables"), list) and "items" in data


def read(data: Any, source: str) -> Imported:
    model = with_place(data, Place(source, 1))
    found = Imported("dynamodb_data_model.json", source)
    for table in model.mappings("tables"):
        name = table.text("TableName")
        what = f"the table {name}"
        described: dict[str, Any] = {
            "TableName": name,
            "KeySchema": key_schema(table, what, Known()),
            "AttributeDefinitions": definitions(table, what, Known()),
            "BillingMode": table.text("BillingMode", "PROVISIONED"),
        }
        for member in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
            described[member] = [
                {
                    "IndexName": index.text("IndexName"),
                    "KeySchema": key_schema(index, f"an index of {name}", Known()),
                    "Projection": projection(index),
                }
                for index in table.mappings(member)
            ]
        found.tables.append(table_schema(described))
    keys = {table.name: table.key_attributes for table in found.tables}
    items = model.mapping("items")
    for name in items:
        for request in items.mappings(name):
            item = request.mapping("PutRequest").mapping("Item")
            found.items.setdefault(name, []).append(wire_item(item, keys.get(name, ())))
    for pattern in model.mappings("access_patterns"):
        _note(found, pattern)
    return found


def _note(found: Imported, pattern: Mapping[str, Any]) -> None:
    """Lists each pattern with its key condition; the owner must say which entity it reads."""
    told = f"Pattern {pattern.get('pattern', '?')}: {pattern.get('description', '')}"
    operation = str(pattern.get("dynamodb_operation") or "")
    if operation in _READS:
        where = pattern.get("index") or pattern.get("table")
        told += (
            f" ({operation} on {where}{_key_condition(str(pattern.get('implementation') or ''))})"
        )
    elif pattern.get("reason"):
        told += f" (not DynamoDB: {pattern['reason']})"
    found.notes.append(" ".join(told.split()))


def _key_condition(command: str) -> str:
    """The key condition of an AWS CLI command, with its values filled in."""
    try:
        words = shlex.split(command)
    except ValueError:
        return ""
    options = dict(pairwise(words))
    condition = options.get("--key-condition-expression", "")
    for option in ("--expression-attribute-names", "--expression-attribute-values"):
        try:
            given = json.loads(options.get(option, "{}"))
        except json.JSONDecodeError:
            continue
        if not isinstance(given, dict):
            continue
        for placeholder, value in sorted(given.items(), key=lambda pair: -len(pair[0])):
            plain = next(iter(value.values())) if isinstance(value, dict) and value else value
            condition = condition.replace(placeholder, str(plain))
    return f": {condition}" if condition else ""
