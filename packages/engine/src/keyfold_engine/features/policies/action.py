"""The actions and resources of a request."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from keyfold_engine.engine.database import Database
from keyfold_engine.errors import OperationError
from keyfold_engine.expressions import parameters
from keyfold_engine.expressions.ast import SetAction, roots
from keyfold_engine.expressions.bind import Placeholders
from keyfold_engine.expressions.parameters import ExpressionParameters
from keyfold_engine.features.partiql.parser import parse
from keyfold_engine.features.partiql.statements import (
    ExistsStatement,
    Insert,
    Removal,
    Select,
    UpdateStatement,
)
from keyfold_engine.features.policies.decision import Action

_TRANSACTED = {
    "Put": "PutItem",
    "Update": "UpdateItem",
    "Delete": "DeleteItem",
    "ConditionCheck": "ConditionCheckItem",
    "Get": "GetItem",
}
_STATEMENTS = {
    Select: "PartiQLSelect",
    ExistsStatement: "PartiQLSelect",
    Insert: "PartiQLInsert",
    UpdateStatement: "PartiQLUpdate",
    Removal: "PartiQLDelete",
}
_RESOURCE_MEMBERS = (
    "TableName",
    "SourceTableName",
    "TableArn",
    "SourceTableArn",
    "ResourceArn",
    "BackupArn",
    "ExportArn",
    "ImportArn",
    "BulkOperationArn",
)


def actions(
    database: Database, operation: str, request: dict[str, Any], address: str
) -> Iterator[Action]:
    """All actions of a request on a table, a stream or what was made of a table."""
    if operation in ("BatchGetItem", "BatchWriteItem"):
        for table, wish in request["RequestItems"].items():
            keys = wish.get("Keys", ()) if isinstance(wish, dict) else _written(wish)
            yield _action(database, operation, table, address, {"Keys": keys})
    elif operation in ("TransactGetItems", "TransactWriteItems"):
        for part in request["TransactItems"]:
            for kind, wish in part.items():
                yield _action(database, _TRANSACTED[kind], wish["TableName"], address, wish)
    elif operation in ("ExecuteStatement", "BatchExecuteStatement", "ExecuteTransaction"):
        statements = request.get("Statements") or request.get("TransactStatements") or [request]
        for statement in statements:
            yield from _of_statement(database, statement, address)
    elif operation in ("GetRecords", "GetShardIterator", "DescribeStream"):
        arn = request.get("StreamArn") or request.get("ShardIterator", "").partition("|")[0]
        yield Action(operation, arn, {"aws:sourceip": [address]})
    else:
        for member in _RESOURCE_MEMBERS:
            if request.get(member):
                index = request.get("IndexName")
                yield _action(database, operation, request[member], address, request, index)
                return


def _written(wishes: list[Any]) -> list[Any]:
    return [
        (wish.get("PutRequest") or {}).get("Item") or (wish.get("DeleteRequest") or {}).get("Key")
        for wish in wishes
    ]


def _of_statement(database: Database, wish: dict[str, Any], address: str) -> Iterator[Action]:
    try:
        statement = parse(wish["Statement"], wish.get("Parameters"))
    except OperationError:
        # A statement that cannot be parsed is refused when it is executed.
        return
    index = statement.index if isinstance(statement, Select) else None
    name = _STATEMENTS[type(statement)]
    yield _action(database, name, statement.table, address, {}, index)


def _action(
    database: Database,
    name: str,
    table: str,
    address: str,
    wish: dict[str, Any],
    index: str | None = None,
) -> Action:
    arn = table if table.startswith("arn:") else database.arn(f"table/{table}")
    resource = f"{arn}/index/{index}" if index is not None else arn
    context = {"aws:sourceip": [address], **_keys_and_attributes(database, table, wish)}
    if wish.get("Select") is not None:
        context["dynamodb:select"] = [wish["Select"]]
    return Action(name, resource, context)


def _keys_and_attributes(
    database: Database, name: str, wish: dict[str, Any]
) -> dict[str, list[str]]:
    """The leading keys and attributes of an item request."""
    items = [each for each in (wish.get("Item"), wish.get("Key"), *wish.get("Keys", ())) if each]
    names = {attribute for item in items for attribute in item}
    try:
        table = database.table(name)
        read = parameters.read(wish)
    except OperationError:
        # Errors of the request are reported when it is executed.
        return {"dynamodb:attributes": sorted(names)} if names else {}
    partition = table.schema.partition[0]
    keys = [str(next(iter(item[partition].values()))) for item in items if partition in item]
    if read.key_terms is not None and (term := read.key_terms.get(partition)) is not None:
        keys += [str(next(iter(value.values()))) for value in term.values]
    names.update(_named(wish, read))
    found: dict[str, list[str]] = {}
    if keys:
        found["dynamodb:leadingkeys"] = keys
    if names:
        found["dynamodb:attributes"] = sorted(names)
    return found


def _named(wish: dict[str, Any], read: ExpressionParameters) -> Iterator[str]:
    """The attributes that expressions name, to read, test or write them."""
    yield from (path.root for path in read.projection or ())
    yield from read.key_terms or ()
    yield from wish.get("Expected") or ()
    if read.filter is not None:
        yield from roots(read.filter)
    if (text := wish.get("ConditionExpression")) is not None:
        given = wish.get("ExpressionAttributeNames"), wish.get("ExpressionAttributeValues")
        yield from roots(Placeholders.with_literals(*given).condition(text))
    for action in () if read.update is None else read.update.actions:
        yield action.path.root
        if isinstance(action, SetAction):
            yield from roots(action.value)
