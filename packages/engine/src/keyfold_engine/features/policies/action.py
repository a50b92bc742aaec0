"""The actions and resources of a request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from keyfold_engine.engine.database import Database
from keyfold_engine.engine.tables import KeySchema
from keyfold_engine.errors import OperationError
from keyfold_engine.expressions import parameters
from keyfold_engine.expressions.ast import Action as UpdateAction
from keyfold_engine.expressions.ast import Condition, Or, SetAction, roots
from keyfold_engine.expressions.bind import Placeholders
from keyfold_engine.expressions.parameters import ExpressionParameters
from keyfold_engine.features.partiql.key_conditions import conjuncts, selections
from keyfold_engine.features.partiql.parser import parse
from keyfold_engine.features.partiql.statements import (
    ExistsStatement,
    Insert,
    Removal,
    Select,
    Statement,
    UpdateStatement,
)
from keyfold_engine.features.policies.decision import Action
from keyfold_engine.values import AttributeValue

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
    told = {"aws:sourceip": [address], **_keys_and_attributes_of(database, statement)}
    resource = _resource(database, statement.table, index)
    yield Action(_STATEMENTS[type(statement)], resource, told)


def _keys_and_attributes_of(database: Database, statement: Statement) -> dict[str, list[str]]:
    if isinstance(statement, ExistsStatement):
        statement = statement.select
    names: set[str] = set()
    values: list[AttributeValue] = []
    try:
        schema = database.table(statement.table).schema
        if isinstance(statement, Insert):
            names.update(statement.item)
            values += [each for each in [statement.item.get(schema.partition[0])] if each]
        else:
            names.update(roots(statement.where) if statement.where is not None else ())
            values += _selected(statement.where, schema)
    except OperationError:
        # Errors of the statement are reported when it is executed.
        pass
    if isinstance(statement, Select):
        names.update(path.root for path in statement.paths or ())
    if isinstance(statement, UpdateStatement):
        names.update(_named_by_update(statement.update.actions))
    return _context(values, names)


def _selected(where: Condition | None, schema: KeySchema) -> list[AttributeValue]:
    """The partitions that a statement is about, if each of its alternatives names some."""
    found = [chosen.partition[0] for chosen in selections(where, schema) or ()]
    for each in conjuncts(where):
        if isinstance(each, Or) and not found:
            alternatives = [_selected(term, schema) for term in each.terms]
            found = list(chain(*alternatives)) if all(alternatives) else []
    return found


def _action(
    database: Database,
    name: str,
    table: str,
    address: str,
    wish: dict[str, Any],
    index: str | None = None,
) -> Action:
    context = {"aws:sourceip": [address], **_keys_and_attributes(database, table, wish)}
    if wish.get("Select") is not None:
        context["dynamodb:select"] = [wish["Select"]]
    return Action(name, _resource(database, table, index), context)


def _resource(database: Database, table: str, index: str | None) -> str:
    arn = table if table.startswith("arn:") else database.arn(f"table/{table}")
    return arn if index is None else f"{arn}/index/{index}"


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
        return _context([], names)
    partition = table.schema.partition[0]
    values = [item[partition] for item in items if partition in item]
    if read.key_terms is not None and (term := read.key_terms.get(partition)) is not None:
        values += term.values
    return _context(values, names.union(_named(wish, read)))


def _context(partitions: list[AttributeValue], names: set[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    if partitions:
        found["dynamodb:leadingkeys"] = [str(*value.values()) for value in partitions]
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
    yield from () if read.update is None else _named_by_update(read.update.actions)


def _named_by_update(actions: Iterable[UpdateAction]) -> Iterator[str]:
    for action in actions:
        yield action.path.root
        if isinstance(action, SetAction):
            yield from roots(action.value)
