"""`dynamodb_data_model.json` of AWS's design assistant: tables, items, access patterns."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from keyfold.adopt.described import table_schema
from keyfold.adopt.sources.cloudformation import Known, key_schema
from keyfold.adopt.sources.imported import (
    Imported,
    expect_list,
    expect_mapping,
    expect_text,
    refuse,
)
from keyfold.design.source import Place

_READS = {"Query": "query", "GetItem": "get", "Scan": "scan"}


def is_model(data: Any) -> bool:
    return isinstance(data, dict) and isinstance(data.get("tables"), list) and "items" in data


def read(data: Any, source: str) -> Imported:
    place = Place(source, 1)
    found = Imported("dynamodb_data_model.json", source)
    for stated in data["tables"]:
        table = expect_mapping(stated, "a table in CreateTable's words", place)
        name = expect_text(table.get("TableName"), "TableName", place)
        key_schema(table, f"the table {name}", Known(), place)
        if not isinstance(table.get("AttributeDefinitions"), list):
            refuse(table, place, f"the table {name} needs AttributeDefinitions")
        found.tables.append(table_schema(table))
    for name, requests in expect_mapping(data["items"], "items by table", place).items():
        for request in expect_list(requests, f"items of {name} as PutRequests", place):
            put = request.get("PutRequest") if isinstance(request, dict) else None
            item = put.get("Item") if isinstance(put, dict) else None
            if not isinstance(item, dict):
                refuse(request, place, f"an item of {name} is PutRequest: Item:")
            found.items.setdefault(name, []).append(item)
    for pattern in data.get("access_patterns") or ():
        if isinstance(pattern, dict):
            _note(found, pattern)
    return found


def _note(found: Imported, pattern: Mapping[str, Any]) -> None:
    """Patterns are told with what they ask; which entity each reads is its owner's to say."""
    told = f"Pattern {pattern.get('pattern', '?')}: {pattern.get('description', '')}"
    operation = str(pattern.get("dynamodb_operation") or "")
    if operation in _READS:
        where = pattern.get("index") or pattern.get("table")
        told += f" ({operation} on {where}{_asked(str(pattern.get('implementation') or ''))})"
    elif pattern.get("reason"):
        told += f" (not DynamoDB: {pattern['reason']})"
    found.notes.append(" ".join(told.split()))


def _asked(command: str) -> str:
    """The key condition of an AWS command line, with its values in it."""
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
        for placeholder, value in sorted(given.items(), key=lambda pair: -len(pair[0])):
            plain = next(iter(value.values())) if isinstance(value, dict) and value else value
            condition = condition.replace(placeholder, str(plain))
    return f": {condition}" if condition else ""
