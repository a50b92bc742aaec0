"""The reference model: DynamoDB as its documentation describes it, slow and obvious."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tests.reference import reading
from tests.reference.evaluate import project
from tests.reference.grammar import Expressions, Path
from tests.reference.tables import Index, Key, Spent, Table, check_size, missing, read_units
from tests.reference.values import (
    Item,
    Refused,
    Wire,
    invalid,
    item_of,
    item_size,
    wire_item,
)
from tests.reference.writes import TOO_LARGE, Write, collections, collects

TEN_MINUTES = 600


class Model:
    def __init__(self, now: Callable[[], float]) -> None:
        self.tables: dict[str, Table] = {}
        self.tokens: dict[str, tuple[float, Wire, list[Spent]]] = {}
        self.now = now

    def call(self, operation: str, request: Wire) -> Wire:
        answer: Wire = getattr(self, operation)(request)
        return answer

    def would_accept(self, operation: str, request: Wire) -> bool:
        """Whether the request has nothing wrong; it is not done."""
        if operation in ("UpdateTable", "pass time"):
            return False
        kept = {name: copy.copy(table) for name, table in self.tables.items()}
        tokens = dict(self.tokens)
        for table in self.tables.values():
            table.items, table.records = dict(table.items), list(table.records)
        try:
            self.call(operation, request)
        except Refused:
            return False
        finally:
            self.tables, self.tokens = kept, tokens
        return True

    def table(self, name: str) -> Table:
        if name not in self.tables:
            raise missing()
        return self.tables[name]

    def CreateTable(self, request: Wire) -> Wire:
        if request["TableName"] in self.tables:
            raise Refused("ResourceInUseException", f"Table already exists: {request['TableName']}")
        indexes = [
            _index(each, member == "LocalSecondaryIndexes")
            for member in ("LocalSecondaryIndexes", "GlobalSecondaryIndexes")
            for each in request.get(member, [])
        ]
        stream = request.get("StreamSpecification", {})
        self.tables[request["TableName"]] = Table(
            request["TableName"], _schema(request), _types(request), indexes,
            stream.get("StreamViewType"),
        )  # fmt: skip
        return {}

    def DeleteTable(self, request: Wire) -> Wire:
        self.table(request["TableName"])
        del self.tables[request["TableName"]]
        return {}

    def UpdateTable(self, request: Wire) -> Wire:
        table = self.table(request["TableName"])
        table.types |= _types(request)
        for change in request["GlobalSecondaryIndexUpdates"]:
            if "Create" in change:
                table.indexes.append(_index(change["Create"], local=False))
            else:
                table.index(change["Delete"]["IndexName"])
                table.indexes = [
                    index for index in table.indexes if index.name != change["Delete"]["IndexName"]
                ]
        return {}

    def UpdateTimeToLive(self, request: Wire) -> Wire:
        given = request["TimeToLiveSpecification"]
        self.table(request["TableName"]).expires = given["AttributeName"]
        return {}

    def PutItem(self, request: Wire) -> Wire:
        return self._write("Put", request)

    def UpdateItem(self, request: Wire) -> Wire:
        return self._write("Update", request)

    def DeleteItem(self, request: Wire) -> Wire:
        return self._write("Delete", request)

    def _write(self, kind: str, request: Wire) -> Wire:
        returns = request.get("ReturnValues", "NONE")
        if returns not in ("NONE", "ALL_OLD") and kind != "Update":
            raise invalid("Return values set to invalid value")
        try:
            write = Write(kind, request, returns)
        except Refused as refused:
            if (
                refused.message
                and refused.message != TOO_LARGE
                and "datatypes" not in refused.message
            ):
                words = f"1 validation error detected: {refused.message}"
                raise Refused(refused.code, words) from refused
            raise
        table = self.table(request["TableName"])
        key = write.key(table)
        write.check(table, key)
        old = table.items.get(key)
        new = write.result(table, key)
        spent = table.write(key, new)
        answer: Wire = {}
        shown = write.attributes(old, new)
        if shown is not None:
            answer["Attributes"] = wire_item(shown)
        if (
            request.get("ReturnItemCollectionMetrics") == "SIZE"
            and collects(table)
            and (old or new)
        ):
            answer["ItemCollectionMetrics"] = table.collection(key)
        return answer | _consumed(request, [spent], listed=False)

    def GetItem(self, request: Wire) -> Wire:
        expressions = Expressions(request)
        paths = _projected(expressions, request)
        table = self.table(request["TableName"])
        table.check_paths(paths or [])
        return self._get(table, table.key(request["Key"]), paths, request)

    def _get(self, table: Table, key: Key, paths: list[Path] | None, request: Wire) -> Wire:
        item = table.items.get(key)
        spent = Spent(table)
        spent.add(None, read_units(item_size(item or {}), request.get("ConsistentRead", False)))
        found = {"Item": _shown(item, paths)} if item is not None else {}
        return found | _consumed(request, [spent], listed=False)

    def Query(self, request: Wire) -> Wire:
        return reading.query(self.table(request["TableName"]), request)

    def Scan(self, request: Wire) -> Wire:
        return reading.scan(self.table(request["TableName"]), request)

    def BatchGetItem(self, request: Wire) -> Wire:
        found: Wire = {}
        spending = []
        for name, wanted in request["RequestItems"].items():
            expressions = Expressions(wanted)
            paths = _projected(expressions, wanted)
            table = self.table(name)
            keys = [table.key(each) for each in wanted["Keys"]]
            if len(set(keys)) < len(keys):
                raise invalid("Provided list of item keys contains duplicates")
            spent = Spent(table)
            items = [table.items.get(key) for key in keys]
            for item in items:
                consistent = wanted.get("ConsistentRead", False)
                spent.add(None, read_units(item_size(item or {}), consistent))
            found[name] = [_shown(item, paths) for item in items if item is not None]
            spending.append(spent)
        answer = {"Responses": found, "UnprocessedKeys": {}}
        return answer | _consumed(request, spending)

    def BatchWriteItem(self, request: Wire) -> Wire:
        writes: list[tuple[Table, Key, Item | None]] = []
        for name, given in request["RequestItems"].items():
            table = self.table(name)
            for each in given:
                item = item_of(each["PutRequest"]["Item"]) if "PutRequest" in each else None
                if item is None:
                    key = table.key(each["DeleteRequest"]["Key"])
                else:
                    table.check_key_of(item)
                    table.check_item(item)
                    check_size(item, TOO_LARGE)
                    key = table.key_of(item)
                writes.append((table, key, item))
        if len(writes) > 25:
            raise invalid()
        places = [(table.name, key) for table, key, _ in writes]
        if len(set(places)) < len(places):
            raise invalid("Provided list of item keys contains duplicates")
        answer: Wire = {"UnprocessedItems": {}}
        answer |= collections(request, writes)
        spending = [table.write(key, item) for table, key, item in writes]
        return answer | _consumed(request, spending)

    def TransactGetItems(self, request: Wire) -> Wire:
        gets = [each["Get"] for each in request["TransactItems"]]
        for each in gets:
            item_of(each["Key"])
        paths = [_projected(Expressions(each), each) for each in gets]
        answers: list[Wire] = []
        spending = []
        places = []
        reasons: list[Wire] = []
        for each, wanted in zip(gets, paths, strict=True):
            table = self.table(each["TableName"])
            with _reason(reasons):
                key = table.key(each["Key"])
            if reasons[-1]["Code"] != "None":
                continue
            places.append((table.name, key))
            item = table.items.get(key)
            spent = Spent(table)
            spent.add(None, 2 * read_units(item_size(item or {}), consistent=True))
            spending.append(spent)
            # A projection that finds nothing answers no item: here alone.
            shown = _shown(item or {}, wanted)
            answers.append({"Item": shown} if shown else {})
        _cancel(reasons)
        if len(set(places)) < len(places):
            raise invalid("Transaction request cannot include multiple operations on one item")
        return {"Responses": answers} | _consumed(request, spending, word="ReadCapacityUnits")

    def TransactWriteItems(self, request: Wire) -> Wire:
        actions = [next(iter(each.items())) for each in request["TransactItems"]]
        writes = [Write(kind, each) for kind, each in actions]
        token = request.get("ClientRequestToken", "")
        before, same, reading = self.tokens.get(token, (0.0, {}, []))
        again = bool(same) and self.now() - before < TEN_MINUTES
        if again and request["TransactItems"] != same["TransactItems"]:
            raise Refused("IdempotentParameterMismatchException")
        if again:
            # Nothing is done: what the first call wrote, the larger of both images, is read.
            return _consumed(request, reading, word="ReadCapacityUnits")
        tables = [self.table(each["TableName"]) for _, each in actions]
        places: list[tuple[Table, Key]] = []
        reasons: list[Wire] = []
        for write, table in zip(writes, tables, strict=True):
            with _reason(reasons):
                places.append((table, write.key(table)))
        _cancel(reasons)
        if len({(table.name, key) for table, key in places}) < len(places):
            raise invalid("Transaction request cannot include multiple operations on one item")
        results: list[tuple[Table, Key, Item | None]] = []
        reasons = []
        for write, (table, key) in zip(writes, places, strict=True):
            with _reason(reasons):
                write.check(table, key)
                checks = write.kind == "ConditionCheck"
                new = table.items.get(key) if checks else write.result(table, key)
                results.append((table, key, new))
        _cancel(reasons)
        answer = collections(request, results)
        spending, reading = [], []
        for table, key, new in results:
            larger = max(item_size(item or {}) for item in (table.items.get(key), new))
            reading.append(Spent(table))
            reading[-1].add(None, 2 * read_units(larger, consistent=True))
            # Prepared and committed: the table's units count twice, those of indexes once.
            spent = table.write(key, new)
            spent.units[None] *= 2
            spending.append(spent)
        if token:
            self.tokens[token] = self.now(), request, reading
        return answer | _consumed(request, spending, word="WriteCapacityUnits")

    def expire(self) -> None:
        for table in self.tables.values():
            table.expire(int(self.now()))


def _shown(item: Item, paths: list[Path] | None) -> Wire:
    return wire_item(item if paths is None else project(item, paths))


def _projected(expressions: Expressions, request: Wire) -> list[Path] | None:
    text = request.get("ProjectionExpression")
    paths = expressions.projection(text) if text is not None else None
    expressions.finish()
    return paths


@contextmanager
def _reason(reasons: list[Wire]) -> Iterator[None]:
    """Appends why one action of a transaction fails, or that it does not."""
    try:
        yield
    except Refused as refused:
        if refused.message and "empty" in refused.message and "Key: " in refused.message:
            # An empty key is refused before the transaction begins.
            raise
        condition = refused.code == "ConditionalCheckFailedException"
        code = "ConditionalCheckFailed" if condition else "ValidationError"
        reasons.append({"Code": code, "Message": refused.message, **refused.members})
    else:
        reasons.append({"Code": "None"})


def _cancel(reasons: list[Wire]) -> None:
    codes = [reason["Code"] for reason in reasons]
    if set(codes) != {"None"}:
        raise Refused(
            "TransactionCanceledException",
            "Transaction cancelled, please refer cancellation reasons for specific reasons "
            f"[{', '.join(codes)}]",
            CancellationReasons=reasons,
        )


def _consumed(
    request: Wire, spending: list[Spent], listed: bool = True, word: str | None = None
) -> Wire:
    wanted = request.get("ReturnConsumedCapacity", "NONE")
    if wanted == "NONE":
        return {}
    totals: dict[str, Spent] = {}
    for spent in spending:
        totals.setdefault(spent.table.name, Spent(spent.table)).join(spent)
    shown = [total.shown(wanted, word) for total in totals.values()]
    return {"ConsumedCapacity": shown if listed else shown[0]}


def _schema(request: Wire) -> list[str]:
    return [each["AttributeName"] for each in request["KeySchema"]]


def _types(request: Wire) -> dict[str, str]:
    return {
        each["AttributeName"]: each["AttributeType"]
        for each in request.get("AttributeDefinitions", [])
    }


def _index(given: Any, local: bool) -> Index:
    return Index(given["IndexName"], _schema(given), given["Projection"], local)
