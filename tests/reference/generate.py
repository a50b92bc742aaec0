"""Requests at random on a few keys: mostly valid, some with one thing wrong, some at a limit."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from tests.reference.contents import ROOTS, Contents
from tests.reference.schemas import ADDED, TABLES
from tests.reference.values import Wire, item_of

Step = tuple[str, Wire]
WRONG_VALUES: tuple[Wire, ...] = (
    {"N": "abc"}, {"N": "1e126"}, {"N": "1e-131"}, {"N": "1" * 39}, {"SS": []}, {"NS": []},
    {"SS": ["a", "a"]}, {"NS": ["1", "1.0"]}, {"BS": ["YQ==", "YQ=="]}, {}, {"NULL": False},
    {"S": "a", "N": "1"}, {"L": [{"N": "x"}]}, {"M": {"x": {"SS": []}}},
)  # fmt: skip
CONSUMED = ("NONE", "TOTAL", "INDEXES", "INDEXES", None)


class Generator(Contents):
    def step(self) -> Step:
        weighted: list[tuple[int, Callable[[], Step]]] = [
            (24, self.put), (24, self.update), (8, self.delete), (10, self.get),
            (12, self.query), (3, self.scan), (3, self.batch_get), (4, self.batch_write),
            (6, self.transact_write), (3, self.transact_get), (1, self.change_table),
            (1, self.pass_time),
        ]  # fmt: skip
        made = self.random.choices([m for _, m in weighted], [w for w, _ in weighted])[0]
        self.names, self.values = {}, {}
        operation, request = made()
        if self.chance(0.1) and self.model.would_accept(operation, request):
            self.spoil(operation, request)
        return operation, request

    def with_placeholders(self, request: Wire) -> Wire:
        for member, given in (
            ("ExpressionAttributeNames", self.names),
            ("ExpressionAttributeValues", self.values),
        ):
            used = {
                name: value
                for name, value in given.items()
                if any(
                    name in _words(text)
                    for member, text in request.items()
                    if member.endswith("Expression")
                )
            }
            if used:
                request[member] = used
        self.names, self.values = {}, {}
        return request

    def consumed(self) -> Wire:
        wanted = self.one(*CONSUMED)
        return {"ReturnConsumedCapacity": wanted} if wanted else {}

    def conditional(self, request: Wire, share: float) -> Wire:
        if self.chance(share):
            request["ConditionExpression"] = self.condition()
            if self.chance(0.5):
                request["ReturnValuesOnConditionCheckFailure"] = self.one("ALL_OLD", "NONE")
        return request

    def single(self, request: Wire, returns: tuple[str, ...]) -> Wire:
        self.conditional(request, 0.3)
        if self.chance(0.5):
            request["ReturnValues"] = self.one(*returns)
        if self.chance(0.1):
            request["ReturnItemCollectionMetrics"] = "SIZE"
        return self.with_placeholders(request | self.consumed())

    def put(self) -> Step:
        table = self.table()
        request = {"TableName": table["TableName"], "Item": self.item(table)}
        return "PutItem", self.single(request, ("NONE", "ALL_OLD"))

    def delete(self) -> Step:
        table = self.table()
        request = {"TableName": table["TableName"], "Key": self.key(table)}
        return "DeleteItem", self.single(request, ("NONE", "ALL_OLD"))

    def update(self) -> Step:
        table = self.table()
        request = {"TableName": table["TableName"], "Key": self.key(table)}
        if self.chance(0.97):
            request["UpdateExpression"] = self.update_text()
        returns = ("NONE", "ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW", "UPDATED_NEW")
        return "UpdateItem", self.single(request, returns)

    def projection(self) -> Wire:
        if not self.chance(0.3):
            return {}
        roots = self.random.sample([*ROOTS, "pk"], self.random.randint(1, 4))
        return {"ProjectionExpression": ", ".join(self.path(root) for root in roots)}

    def consistent(self) -> Wire:
        return {"ConsistentRead": self.chance(0.5)} if self.chance(0.5) else {}

    def get(self) -> Step:
        table = self.table()
        request = {"TableName": table["TableName"], "Key": self.key(table)}
        request |= self.projection() | self.consistent() | self.consumed()
        return "GetItem", self.with_placeholders(request)

    def source(self, table: Wire) -> tuple[Wire, list[str], tuple[str, ...]]:
        """The table or one of its indexes, its key, and what a filter may read."""
        indexes = self.model.tables[table["TableName"]].indexes
        if not indexes or self.chance(0.4):
            return {}, [each["AttributeName"] for each in table["KeySchema"]], ROOTS
        index = self.one(*indexes)
        names = index.projected(self.model.tables[table["TableName"]])
        roots = tuple(
            root for root in ROOTS if (names is None or root in names) and root not in index.schema
        )
        return {"IndexName": index.name}, index.schema, roots

    def read(self, table: Wire, source: Wire, schema: list[str], roots: tuple[str, ...]) -> Wire:
        request: Wire = {"TableName": table["TableName"], **source, **self.consumed()}
        if roots and self.chance(0.3):
            allowed = tuple(root for root in roots if root not in schema)
            request["FilterExpression"] = self.condition(allowed)
        if "IndexName" not in source or schema[0] == "pk":
            request |= self.consistent()
        if self.chance(0.3):
            request["Limit"] = self.random.randint(1, 6)
        if self.chance(0.2):
            request["Select"] = self.one("COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES")
        else:
            request |= self.projection()
        return request

    def query(self) -> Step:
        table = self.table()
        source, schema, roots = self.source(table)
        request = self.read(table, source, schema, roots)
        types = self.model.tables[table["TableName"]].types
        hash_value = self.literal(self.key_value(types[schema[0]], long=False))
        text = f"{self.name(schema[0])} = {hash_value}"
        if len(schema) > 1 and self.chance(0.5):
            text += f" AND {self.sort_condition(schema[1], types[schema[1]])}"
        request["KeyConditionExpression"] = text
        if self.chance(0.4):
            request["ScanIndexForward"] = self.chance(0.3)
        if not source and len(schema) > 1 and self.chance(0.1):
            request["ExclusiveStartKey"] = {
                schema[0]: self.values[hash_value],
                schema[1]: self.key_value(types[schema[1]], long=False),
            }
        return "Query", self.with_placeholders(request)

    def sort_condition(self, name: str, kind: str) -> str:
        path = self.name(name)
        value = self.literal(self.key_value(kind, long=False))
        if self.chance(0.2) and kind == "N":
            low, high = self.literal({"N": "-1"}), self.literal({"N": "2"})
            return f"{path} BETWEEN {low} AND {high}"
        if self.chance(0.3) and kind != "N":
            return f"begins_with({path}, {value})"
        return f"{path} {self.one('=', '<', '<=', '>', '>=')} {value}"

    def scan(self) -> Step:
        table = self.table()
        source, _, roots = self.source(table)
        request = self.read(table, source, ["" if "IndexName" in source else "pk"], roots)
        if self.chance(0.2):
            request["TotalSegments"] = self.random.randint(1, 4)
            request["Segment"] = 0
        return "Scan", self.with_placeholders(request)

    def batch_get(self) -> Step:
        wanted: Wire = {}
        for table in self.random.sample(TABLES, self.random.randint(1, 3)):
            keys = _distinct(self.key(table) for _ in range(self.random.randint(1, 8)))
            each: Wire = {"Keys": keys} | self.projection() | self.consistent()
            wanted[table["TableName"]] = self.with_placeholders(each)
        return "BatchGetItem", {"RequestItems": wanted} | self.consumed()

    def batch_write(self) -> Step:
        wanted: Wire = {}
        for table in self.random.sample(TABLES, self.random.randint(1, 3)):
            keys = _distinct(self.key(table) for _ in range(self.random.randint(1, 8)))
            wanted[table["TableName"]] = [
                {"DeleteRequest": {"Key": key}}
                if self.chance(0.3)
                else {"PutRequest": {"Item": self.item(table) | key}}
                for key in keys
            ]
        request: Wire = {"RequestItems": wanted} | self.consumed()
        if self.chance(0.1):
            request["ReturnItemCollectionMetrics"] = "SIZE"
        return "BatchWriteItem", request

    def transact_write(self) -> Step:
        if self.model.tokens and self.chance(0.1):
            token, (_, before, _) = self.one(*self.model.tokens.items())
            repeated = copy.deepcopy(before)
            if self.chance(0.2):
                repeated["TransactItems"] = self.transact_write()[1]["TransactItems"]
            return "TransactWriteItems", repeated | {"ClientRequestToken": token}
        actions = []
        for table in self.random.choices(TABLES, k=self.random.randint(1, 5)):
            self.names, self.values = {}, {}
            kind = self.one("Put", "Put", "Update", "Update", "Delete", "ConditionCheck")
            each: Wire = {"TableName": table["TableName"]}
            if kind == "Put":
                each["Item"] = self.item(table)
            else:
                each["Key"] = self.key(table)
            if kind == "Update":
                each["UpdateExpression"] = self.update_text()
            self.conditional(each, 1 if kind == "ConditionCheck" else 0.2)
            actions.append({kind: self.with_placeholders(each)})
        request: Wire = {"TransactItems": actions} | self.consumed()
        if self.chance(0.2):
            self.tokens += 1
            request["ClientRequestToken"] = f"token-{self.tokens}"
        return "TransactWriteItems", request

    def transact_get(self) -> Step:
        gets = []
        for table in self.random.choices(TABLES, k=self.random.randint(1, 5)):
            each = {"TableName": table["TableName"], "Key": self.key(table)} | self.projection()
            gets.append({"Get": self.with_placeholders(each)})
        return "TransactGetItems", {"TransactItems": gets} | self.consumed()

    def change_table(self) -> Step:
        """An index made on items that are there, some of them with a key of the wrong type."""
        there = any(index.name == "added" for index in self.model.tables["Bytes"].indexes)
        change = {"Delete": {"IndexName": "added"}} if there else {"Create": ADDED}
        return "UpdateTable", {
            "TableName": "Bytes",
            "AttributeDefinitions": [
                {"AttributeName": name, "AttributeType": kind}
                for name, kind in {"pk": "B", "sk": "S", "score": "N", "kind": "S"}.items()
                if not (there and name == "kind")
            ],
            "GlobalSecondaryIndexUpdates": [change],
        }

    def pass_time(self) -> Step:
        return "pass time", {"seconds": self.one(7, 70, 595.5, 700)}

    def spoil(self, operation: str, request: Wire) -> None:
        """Puts one wrong thing into the request."""
        places = list(_places(request))
        if not places or operation in ("pass time", "UpdateTable"):
            return
        kind = self.random.randint(0, 9)
        place = self.one(*places)
        expressions = [name for name in place if name.endswith("Expression")]
        if kind == 0 and "TableName" in place:
            place["TableName"] = "Nowhere"
        elif kind < 5 and ("Key" in place or "Item" in place):
            self.spoil_attributes(place.get("Key") or place["Item"])
        elif kind == 5 and ("Item" in place or "UpdateExpression" in place):
            place.setdefault("ExpressionAttributeValues", {})[":unused"] = {"S": "x"}
        elif expressions:
            name = self.one(*expressions)
            place[name] = self.one(
                "", f"{place[name]} x", place[name].replace(":v0", ":undefined"),
                place[name].replace("#name", "name"), f"{place[name]} AND", "a = a",
                "kind.x", f"{place[name]}, kind[0]", "attribute_exists(pk.x)",
                f"{place[name]}, pk.x = a", "REMOVE sk", "SET a = b",
            )  # fmt: skip

    def spoil_attributes(self, attributes: Wire) -> None:
        name = self.one(*attributes)
        kind = self.random.randint(0, 5)
        if kind == 5:
            attributes[name] = {"S": "k" * self.one(1025, 2048, 2049)}
        elif kind == 0:
            del attributes[name]
        elif kind == 1:
            attributes["extra"] = {"S": "x"}
        elif kind == 2:
            attributes[name] = copy.deepcopy(self.one(*WRONG_VALUES))
        elif kind == 3:
            attributes[name] = {"S": ""}
        else:
            attributes[name] = self.value()


def _words(text: str) -> set[str]:
    """The placeholders in an expression."""
    separated = "".join(each if each.isalnum() or each in "#:_" else " " for each in text)
    return set(separated.split())


def _distinct(keys: Any) -> list[Wire]:
    found: list[Wire] = []
    for key in keys:
        if all(item_of(key) != item_of(other) for other in found):
            found.append(key)
    return found


def _places(request: Wire) -> Any:
    """The parts of a request that have a table, a key, an item or an expression."""
    if "TransactItems" in request:
        for each in request["TransactItems"]:
            yield from each.values()
    elif "RequestItems" in request:
        for each in request["RequestItems"].values():
            if isinstance(each, dict):
                yield each
                yield from ({"Key": key} for key in each["Keys"])
            else:
                yield from (write for one in each for write in one.values())
    else:
        yield request
