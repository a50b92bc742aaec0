"""Query and Scan."""

from __future__ import annotations

from typing import Any

from tests.reference.evaluate import compare, holds, project
from tests.reference.grammar import Expressions, Literal, Node, Path
from tests.reference.tables import Index, Spent, Table, read_units
from tests.reference.values import (
    Item,
    Value,
    Wire,
    invalid,
    item_size,
    parameter,
    parsed,
    sortable,
    wire_item,
)

PAGE = 1024 * 1024
SORT_OPERATORS = ("=", "<", "<=", ">", ">=", "between", "begins_with")


def query(table: Table, request: Wire) -> Wire:
    index = table.index(request.get("IndexName"))
    if index and not index.local and request.get("ConsistentRead"):
        raise invalid("Consistent reads are not supported on global secondary indexes")
    expressions = Expressions(request)
    if request.get("Select") == "ALL_PROJECTED_ATTRIBUTES" and index is None:
        raise invalid()
    schema = index.schema if index else table.schema
    node = expressions.condition("KeyConditionExpression", request["KeyConditionExpression"])
    hash_value, sort = key_condition(table, schema, node)
    entries = [
        entry for entry in table.entries(index, hash_value) if sort is None or holds(entry, sort)
    ]
    forward = request.get("ScanIndexForward", True)
    if not forward:
        entries.reverse()
    start = start_key(table, index, request)
    if start is not None:
        if start[schema[0]] != hash_value:
            raise invalid(
                "The provided starting key is outside query boundaries based on provided conditions"
            )
        if sort is not None and not holds(start, sort):
            raise invalid("The provided starting key does not match the range key predicate")
        entries = _after(entries, start, table, schema, forward)
    return page(table, index, request, entries, expressions, schema)


def scan(table: Table, request: Wire) -> Wire:
    """The whole table in one page: the order of partitions is not documented."""
    index = table.index(request.get("IndexName"))
    if index and not index.local and request.get("ConsistentRead"):
        raise invalid("Consistent reads are not supported on global secondary indexes")
    expressions = Expressions(request)
    return page(table, index, request, table.entries(index), expressions, [])


def key_condition(table: Table, schema: list[str], node: Node) -> tuple[Value, Node | None]:
    parts = _parts(node)
    by_name: dict[str, Node] = {}
    for part in parts:
        path = part.args[0]
        if part.op not in SORT_OPERATORS:
            raise invalid()
        if not isinstance(path, Path) or len(path.steps) > 1:
            raise invalid()
        name = str(path.steps[0])
        if name in by_name:
            raise invalid()
        for other in part.args[1:]:
            if not isinstance(other, Literal):
                raise invalid()
        by_name[name] = part
    if schema[0] not in by_name:
        raise invalid(f"Query condition missed key schema element: {schema[0]}")
    if by_name[schema[0]].op != "=":
        raise invalid("Query key condition not supported")
    if set(by_name) - set(schema):
        raise invalid()
    for name, part in by_name.items():
        for other in part.args[1:]:
            kind, held = other.value
            if kind != table.types[name]:
                raise parameter("Condition parameter type does not match schema type")
            if kind in ("S", "B") and not held:
                raise invalid()
    sort = by_name.get(schema[1]) if len(schema) > 1 else None
    return by_name[schema[0]].args[1].value, sort


def _parts(node: Node) -> list[Node]:
    if node.op == "and":
        return [*_parts(node.args[0]), *_parts(node.args[1])]
    return [node]


def start_key(table: Table, index: Index | None, request: Wire) -> Item | None:
    given = request.get("ExclusiveStartKey")
    if given is None:
        return None
    start = {name: parsed(value) for name, value in given.items()}
    names = {*table.schema, *(index.schema if index else [])}
    if set(start) != names or any(start[name][0] != table.types[name] for name in names):
        raise invalid()
    return start


def _after(
    entries: list[Item], start: Item, table: Table, schema: list[str], forward: bool
) -> list[Item]:
    """What comes after the start key: it need not be there itself."""
    if len(schema) == 1:
        keys = [table.key_of(entry) for entry in entries]
        at = keys.index(table.key_of(start)) if table.key_of(start) in keys else len(keys)
        return entries[at + 1 :]
    op = ">" if forward else "<"
    return [entry for entry in entries if compare(entry[schema[1]], op, start[schema[1]])]


def page(
    table: Table,
    index: Index | None,
    request: Wire,
    entries: list[Item],
    expressions: Expressions,
    schema: list[str],
) -> Wire:
    filtering = request.get("FilterExpression")
    node = expressions.condition("FilterExpression", filtering) if filtering is not None else None
    projecting = request.get("ProjectionExpression")
    paths = expressions.projection(projecting) if projecting is not None else None
    expressions.finish()
    if node is not None:
        for name in sorted(_names(node) & set(schema)):
            raise invalid(
                "Filter Expression can only contain non-primary key attributes: "
                f"Primary key attribute: {name}"
            )
    select = _selected(index, request, paths)
    fetches = _fetches(table, index, select, paths)
    table.check_paths(expressions.paths)
    read = fetched = 0.0
    seen = 0
    items: list[Item] = []
    last: Item | None = None
    limit = request.get("Limit")
    consistent = request.get("ConsistentRead", False)
    for entry in entries:
        seen += 1
        read += item_size(entry)
        whole = table.items[table.key_of(entry)]
        if fetches:
            fetched += read_units(item_size(whole), consistent)
        shown = whole if fetches else entry
        if node is None or holds(shown, node):
            items.append(shown if paths is None else project(shown, paths))
        if seen == limit or read >= PAGE:
            last = entry
            break
    answer: Wire = {"Count": len(items), "ScannedCount": seen}
    if select != "COUNT":
        answer["Items"] = [wire_item(item) for item in items]
    if last is not None:
        names = [*(index.schema if index else []), *table.schema]
        answer["LastEvaluatedKey"] = wire_item({name: last[name] for name in names})
    wanted = request.get("ReturnConsumedCapacity", "NONE")
    if wanted != "NONE":
        spent = Spent(table)
        spent.add(index, read_units(int(read), consistent))
        if fetched:
            spent.add(None, fetched)
        answer["ConsumedCapacity"] = spent.shown(wanted)
    return answer


def _selected(index: Index | None, request: Wire, paths: list[Path] | None) -> str:
    select = request.get("Select")
    if paths is not None:
        if select not in (None, "SPECIFIC_ATTRIBUTES"):
            raise invalid()
        return "SPECIFIC_ATTRIBUTES"
    if select == "SPECIFIC_ATTRIBUTES":
        raise invalid()
    if select == "ALL_PROJECTED_ATTRIBUTES" and index is None:
        raise invalid()
    if (
        select == "ALL_ATTRIBUTES"
        and index
        and not index.local
        and index.projection["ProjectionType"] != "ALL"
    ):
        raise parameter(
            "Select type ALL_ATTRIBUTES is not supported for global secondary index "
            f"{index.name} because its projection type is not ALL"
        )
    return select or "ALL_PROJECTED_ATTRIBUTES"


def _fetches(table: Table, index: Index | None, select: str, paths: list[Path] | None) -> bool:
    """Whether a local index must ask the table for what it lacks."""
    names = index.projected(table) if index else None
    if index is None or names is None or select in ("COUNT", "ALL_PROJECTED_ATTRIBUTES"):
        return False
    lacking = {str(path.steps[0]) for path in paths or []} - names
    if not index.local and lacking:
        raise invalid()
    return select == "ALL_ATTRIBUTES" or bool(lacking)


def _names(node: Any) -> set[str]:
    """The attributes that a condition reads."""
    if isinstance(node, Path):
        return {str(node.steps[0])}
    if isinstance(node, Node):
        return set().union(*(_names(each) for each in node.args))
    return set()


def order(entry: Item, schema: list[str]) -> Any:
    return sortable(entry[schema[1]]) if len(schema) > 1 else None
