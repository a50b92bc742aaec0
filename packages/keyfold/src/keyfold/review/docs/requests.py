"""The exact request of an access pattern, and the cost of one call."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from keyfold.design.condition import condition_text
from keyfold.design.schema import PatternSchema, Schema, SearchSchema, SortCondition
from keyfold.design.shorthand import SIGNS
from keyfold.design.template import Slot, Template
from keyfold.review.worst_case import item_bytes
from keyfold_engine.limits import PAGE_BYTES, READ_UNIT_BYTES


def request(schema: Schema, pattern: PatternSchema) -> str:
    """The operation and its parameters, with the parameters of the pattern in braces."""
    if pattern.at_once:
        return _several(schema, pattern)
    operation = "GetItem" if pattern.kind == "get" and pattern.index is None else "Query"
    body = _get(schema, pattern) if operation == "GetItem" else _query(schema, pattern)
    if pattern.kind == "scan":
        operation, body = "Scan", {"TableName": pattern.table}
    return f"{operation} {_json_lines(body)}"


def search_request(schema: Schema, search: SearchSchema) -> str:
    """A search and its parameters, with those of the search in braces."""
    table = schema.by_table[search.table]
    entity = schema.by_entity.get(search.entity)
    stored = entity.by_field if entity is not None else {}
    names = {
        f"#{field}": stored[field].name if field in stored else field for field in search.given
    }
    values = {f":{field}": f"{{{field}}}" for field in search.given}
    if table.type_attribute is not None and entity is not None:
        names["#type"] = table.type_attribute
        values[":type"] = entity.type_name or entity.name
    body: dict[str, Any] = {
        "TableName": search.table,
        "IndexName": search.index,
        "SearchVector": "{vector}",
        "TopK": search.limit or f"{{{search.limit_parameter or 'limit'}}}",
    }
    if names:
        pairs = zip(names, values, strict=True)
        body["SearchConditionExpression"] = " AND ".join(f"{n} = {v}" for n, v in pairs)
        body["ExpressionAttributeNames"] = names
        body["ExpressionAttributeValues"] = values
    return f"SearchVectors {_json_lines(body)}"


def _json_lines(body: dict[str, Any]) -> str:
    """JSON with one parameter to a line."""
    lines = (f"  {json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in body.items())
    return "{\n" + ",\n".join(lines) + "\n}"


def _get(schema: Schema, pattern: PatternSchema) -> dict[str, Any]:
    table = schema.by_table[pattern.table]
    key = {table.partition: {table.partition_type: _text(pattern.partition)}}
    if table.sort and pattern.condition.template is not None:
        key[table.sort] = {table.sort_type: _text(pattern.condition.template)}
    body: dict[str, Any] = {"TableName": pattern.table, "Key": key}
    if pattern.consistent:
        body["ConsistentRead"] = True
    return body


def _several(schema: Schema, pattern: PatternSchema) -> str:
    """The first of the keys; those of a list are one a value."""
    key = _get(schema, pattern)["Key"]
    if pattern.at_once == "together":
        one = {"Get": {"TableName": pattern.table, "Key": key}}
        return f"TransactGetItems {_json_lines({'TransactItems': [one, '…']})}"
    asked = {pattern.table: {"Keys": [key, "…"], "ConsistentRead": True}}
    return f"BatchGetItem {_json_lines({'RequestItems': asked})}"


def _query(schema: Schema, pattern: PatternSchema) -> dict[str, Any]:
    table = schema.by_table[pattern.table]
    owner = (table.index(pattern.index) if pattern.index else None) or table
    body: dict[str, Any] = {"TableName": pattern.table}
    if pattern.index:
        body["IndexName"] = pattern.index
    asked = [*_conditions("pk", owner.partition_types, SortCondition("eq", pattern.partition))]
    asked += _conditions("sk", owner.sort_types, pattern.condition)
    names: dict[str, str] = {}
    values: dict[str, dict[str, str]] = {}
    clauses = []
    for mark, name, kind, condition in asked:
        clause, operands = _clause(mark, condition)
        clauses.append(clause)
        names[f"#{mark}"] = name
        values |= {operand: {kind: text} for operand, text in operands.items()}
    body["KeyConditionExpression"] = " AND ".join(clauses)
    body["ExpressionAttributeNames"] = names
    body["ExpressionAttributeValues"] = values
    if pattern.filter is not None:
        body["FilterExpression"] = condition_text(pattern.filter)
    if pattern.descending:
        body["ScanIndexForward"] = False
    if pattern.kind == "count":
        body["Select"] = "COUNT"
    limit = pattern.limit or (f"{{{pattern.limit_parameter}}}" if pattern.limit_parameter else None)
    if limit is not None:
        body["Limit"] = limit
    if pattern.consistent:
        body["ConsistentRead"] = True
    return body


def _conditions(
    word: str, types: Mapping[str, str], condition: SortCondition
) -> Iterator[tuple[str, str, str, SortCondition]]:
    """A mark, an attribute, its type and what is asked of it, for each that is asked."""
    names = [*types.items()]
    if not names or condition.operator == "none":
        return
    if len(names) == 1:
        yield (word, *names[0], condition)
        return
    marked = [(f"{word}{number}", *each) for number, each in enumerate(names, 1)]
    template = condition.template or Template(())
    pieces = template.attributes if template.parts else ()
    # All are equalities except the last, which may be a range or prefix.
    beginning = condition.operator == "begins_with" and isinstance(template.parts[-1], Slot)
    equal = pieces[:-1] if beginning else pieces
    for mark, piece in zip(marked, equal, strict=False):
        yield (*mark, SortCondition("eq", piece))
    if beginning or condition.operator == "between":
        last = replace(condition, template=pieces[-1] if beginning else Template(()))
        yield (*marked[len(equal)], last)


def _clause(mark: str, condition: SortCondition) -> tuple[str, dict[str, str]]:
    operand = _text(condition.template)
    if condition.operator == "begins_with":
        return f"begins_with(#{mark}, :{mark})", {f":{mark}": operand}
    if condition.operator != "between":
        return f"#{mark} {SIGNS[condition.operator]} :{mark}", {f":{mark}": operand}
    if condition.upper is not None:
        return f"#{mark} BETWEEN :low AND :high", {":low": operand, ":high": _text(condition.upper)}
    low = f"{operand}{{{condition.low.parameter}}}" if condition.low else operand
    high = f"{operand}{{{condition.high.parameter}}}" if condition.high else f"{operand}\U0010ffff"
    if not operand and condition.high is None:
        return f"#{mark} >= :low", {":low": low}
    if not operand and condition.low is None:
        return f"#{mark} <= :high", {":high": high}
    return f"#{mark} BETWEEN :low AND :high", {":low": low, ":high": high}


def _text(template: Template | None) -> str:
    return template.text if template else ""


def read_units(schema: Schema, pattern: PatternSchema) -> str:
    """Read units of one call, as a number or a bound."""
    rate = 1.0 if pattern.consistent else 0.5
    size = item_bytes(schema, pattern.entities)
    if pattern.at_once:
        each = math.ceil(size / READ_UNIT_BYTES) * (2 if pattern.at_once == "together" else 1)
        return f"{each:g} for each item"
    if pattern.kind == "get":
        return f"{math.ceil(size / READ_UNIT_BYTES) * rate:g}"
    held = [e.per_partition for n in pattern.entities if (e := schema.by_entity.get(n))]
    most = pattern.limit or (sum(h for h in held if h) if held and all(held) else None)
    if pattern.kind == "exists":
        most = 1
    if most is None:
        page = math.ceil(PAGE_BYTES / READ_UNIT_BYTES) * rate
        return f"up to {page:g} a page"
    units = math.ceil(most * size / READ_UNIT_BYTES) * rate
    if pattern.kind == "merge":
        return f"{units:g} for each partition"
    return f"{units:g}" if most == 1 else f"up to {units:g}"
