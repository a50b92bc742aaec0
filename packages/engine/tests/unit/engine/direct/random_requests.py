"""Requests at random about a few tables and keys: most of them valid, many nearly."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

Wire = dict[str, Any]

TEXTS = ("a", "b", "c", "d", "e", "f", "gg", "0")
ODD_TEXTS = (
    "é", "\u20ac", "a\0b", "x" * 600, "x" * 2048, "x" * 2049, "", "A" * 1024, "A" * 1025,
    '"n":{"N":"1"}',
)  # fmt: skip
ODD_NUMBERS = (
    "0", "1", "-1", "2.5", "1e3", "007", "1.0", "12345678901234567890123456789012345678", "9" * 39,
    "x", "", "-0", "1E126", "٣",
)  # fmt: skip
ODD_VALUES: tuple[Any, ...] = (
    {}, {"S": "a", "N": "1"}, {"X": "a"}, {"S": 1}, {"S": None}, "a", None, [], 5,
    {"BOOL": "true"}, {"BOOL": 1}, {"NULL": False}, {"B": "AB=="}, {"B": "A"}, {"B": ""},
    {"B": "!!!!"}, {"SS": []}, {"SS": ["a", "a"]}, {"SS": ["b", "a"]}, {"NS": ["1", "1.0"]},
)  # fmt: skip
UPDATES = (
    "ADD n :n", "SET n = n + :n", "SET t = :v", "SET #t = :v, n = n + :n", "REMOVE t", "SET u = t",
    "REMOVE n SET t = :v", "SET n = if_not_exists(n, :n) + :n", "SET u = :v ADD n :n", "REMOVE g",
    "SET g = :v", "SET g = :v, h = :v", "SET t = t", "SET t = u, u = t", "SET m.a = :v",
)  # fmt: skip
ODD_UPDATES = (
    "SET pk = :v", "DELETE u :v", "ADD u :v", "SET n = :n, n = :v", "SET t = list_append(t, :v)",
    "SET l[0] = :v", "SET x = n - :n", "nonsense", "ADD g :n", "SET g.a = :v",
)  # fmt: skip
CONDITIONS = (
    "attribute_exists(pk)", "attribute_not_exists(pk)", "n > :n", "attribute_exists(#t)", "t = :v",
)  # fmt: skip
ODD_CONDITIONS = (
    "size(t) > :n", "n BETWEEN :n AND :n", "attribute_type(t, :v)", "contains(u, :v)", "nope(",
    "pk = :v",
)  # fmt: skip
ODD_MEMBERS = (
    "ReturnValues", "ReturnConsumedCapacity", "ConsistentRead", "Unknown", "ProjectionExpression",
    "ReturnItemCollectionMetrics", "Expected", "ReturnValuesOnConditionCheckFailure", "TableName",
    "ClientRequestToken",
)  # fmt: skip
ODD_CONTENTS: tuple[Any, ...] = (
    "ALL_OLD", "ALL_NEW", "TOTAL", "INDEXES", True, None, "x", {}, "SIZE", "pk", "NONE", 5,
)  # fmt: skip


def _schema(*names: str) -> list[dict[str, str]]:
    return [
        {"AttributeName": name, "KeyType": kind}
        for name, kind in zip(names, ("HASH", "RANGE"), strict=False)
    ]


def _table(name: str, keys: str, indexes: str = "", projection: str = "ALL", **more: Any) -> Wire:
    """A table from words such as `pk:S sk:N` and `g h,g`."""
    types = dict(part.split(":") for part in keys.split())
    wanted = [index.split() for index in indexes.split(",") if index]
    defined = {**types, **{key: "S" for index in wanted for key in index if key not in types}}
    table: Wire = {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [
            {"AttributeName": key, "AttributeType": kind} for key, kind in defined.items()
        ],
        "KeySchema": _schema(*types),
        **more,
    }
    if wanted:
        table["GlobalSecondaryIndexes"] = [
            {
                "IndexName": f"by{number}{index[0]}",
                "KeySchema": _schema(*index),
                "Projection": {"ProjectionType": projection},
            }
            for number, index in enumerate(wanted)
        ]
    return table


_STREAM = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
_LOCAL = {"IndexName": "local", "KeySchema": _schema("pk", "g"), "Projection": {}}
_LOCAL["Projection"] = {"ProjectionType": "ALL"}
TABLES: tuple[Wire, ...] = (
    _table("plain", "pk:S"),
    _table("sorted", "pk:S sk:S", "g h,g"),
    _table("numbers", "pk:N sk:B"),
    _table("parts", "pk:S", "g", "KEYS_ONLY"),
    _table("streamed", "pk:S sk:S", "g h", StreamSpecification=_STREAM),
    {
        **_table("local", "pk:S sk:S", LocalSecondaryIndexes=[_LOCAL]),
        "AttributeDefinitions": [
            {"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk", "g")
        ],
    },
)
KEYS = {
    table["TableName"]: {
        each["AttributeName"]: each["AttributeType"]
        for each in table["AttributeDefinitions"]
        if each["AttributeName"] in ("pk", "sk")
    }
    for table in TABLES
}


class RandomRequests:
    """Requests from a seed; `odd` is the share of unusual and invalid parts."""

    def __init__(self, seed: int, odd: float) -> None:
        self._random, self._odd = random.Random(seed), odd

    def groups(self, count: int) -> Iterator[list[tuple[str, Wire]]]:
        """About `count` requests, in groups as they come at once."""
        while count > 0:
            size = self._random.choice((1, 1, 1, 2, 5, 12))
            yield [self.request() for _ in range(size)]
            count -= size

    def request(self) -> tuple[str, Wire]:
        operation, request = self._request()
        if self._chance(0.3):
            request["ReturnConsumedCapacity"] = self._one(("TOTAL", "TOTAL", "INDEXES", "NONE"))
        if self._is_odd():
            request[self._one(ODD_MEMBERS)] = self._one(ODD_CONTENTS)
        return operation, request

    def _request(self) -> tuple[str, Wire]:
        table, chosen = self._name(), self._random.random()
        if chosen < 0.2:
            request: Wire = {"TableName": table, "Key": self._key(table)}
            if self._chance(0.2):
                request["ConsistentRead"] = self._one((True, False))
            return "GetItem", request
        if chosen < 0.8:
            operation = self._one(("PutItem", "UpdateItem", "UpdateItem", "DeleteItem"))
            request = self._write(operation.removesuffix("Item"), table)
            if self._chance(0.3):
                request["ReturnValues"] = self._one(("NONE", "ALL_OLD", "ALL_NEW", "UPDATED_NEW"))
            return operation, request
        if chosen < 0.85:
            return "BatchWriteItem", {"RequestItems": self._batch()}
        kinds = ("Put", "Update", "Delete", "ConditionCheck")
        parts = []
        for _ in range(self._random.randrange(1, 5)):
            kind = self._one(kinds)
            parts.append({kind: self._write(kind, self._name())})
        request = {"TransactItems": parts}
        if self._chance(0.3):
            # Few tokens, so that some come again.
            request["ClientRequestToken"] = str(self._random.randrange(50))
        return "TransactWriteItems", request

    def _write(self, kind: str, table: str) -> Wire:
        request: Wire = {"TableName": table}
        if kind == "Put":
            request["Item"] = self._item(table)
        else:
            request["Key"] = self._key(table)
        texts = ""
        if kind == "Update":
            texts = request["UpdateExpression"] = self._usual(UPDATES, ODD_UPDATES)
        if kind == "ConditionCheck" or self._chance(0.4):
            likely = CONDITIONS[:2] if self._chance(0.6) else CONDITIONS
            request["ConditionExpression"] = self._usual(likely, ODD_CONDITIONS)
            texts += request["ConditionExpression"]
        self._fill_in(request, texts)
        return request

    def _fill_in(self, request: Wire, texts: str) -> None:
        """Give names and values for the placeholders, or nearly."""
        values: Wire = {}
        if ":n" in texts and not self._is_odd():
            values[":n"] = {"N": str(self._random.randrange(20))}
        if ":v" in texts and not self._is_odd():
            values[":v"] = {"S": self._text()} if self._chance(0.6) else self._value()
        if self._is_odd():
            values[":z"] = {"S": "a"}
        if values:
            request["ExpressionAttributeValues"] = values
        if "#t" in texts and not self._is_odd():
            request["ExpressionAttributeNames"] = {"#t": self._one(("t", "u", "n", "g"))}
        if self._is_odd():
            odd: tuple[Any, ...] = (
                {"#t": 5},
                {"#t": None},
                {},
                [],
                None,
                {"t": "t"},
                {"#t": ""},
                {"#t": "t" * 300},
            )
            request["ExpressionAttributeNames"] = self._one(odd)
        if self._is_odd():
            odd_text = ("", 5, None, "attribute_exists(pk)" + " " * 5000, "#t = :v")
            request["ConditionExpression"] = self._one(odd_text)
        if self._chance(0.05):
            request["ReturnValuesOnConditionCheckFailure"] = self._one(("ALL_OLD", "NONE"))

    def _batch(self) -> Wire:
        wishes: dict[str, list[Wire]] = {}
        for _ in range(self._random.randrange(0 if self._is_odd() else 1, 6)):
            table = self._name()
            wish: Wire = {"PutRequest": {"Item": self._item(table)}}
            if self._chance(0.3):
                wish = {"DeleteRequest": {"Key": self._key(table)}}
            if self._is_odd():
                wish["DeleteRequest"] = {"Key": self._key(table)}
            wishes.setdefault(table, []).append(wish)
        if self._is_odd():
            wishes[self._name()] = []
        return wishes

    def _name(self) -> str:
        if self._chance(self._odd / 10):
            return "missing"
        return str(self._one((*KEYS, "sorted", "streamed")))

    def _key(self, table: str) -> Wire:
        key: Wire = {
            name: self._key_value(kind) for name, kind in KEYS.get(table, {"pk": "S"}).items()
        }
        if self._is_odd():
            key["more"] = {"S": "x"}
        if self._is_odd():
            key.pop(self._one(list(key)))
        return key

    def _key_value(self, kind: str) -> Any:
        if self._is_odd():
            return self._value()
        if kind == "N":
            return {"N": self._usual(tuple("012345"), ODD_NUMBERS)}
        return {"S": self._text()} if kind == "S" else {"B": self._one(("AA==", "AQ==", "YWJj"))}

    def _item(self, table: str) -> Wire:
        item = self._key(table)
        for name in self._random.sample(
            ("n", "t", "u", "m", "ttl", "g", "h", "g", "h"), self._random.randrange(7)
        ):
            if name in ("n", "ttl"):
                item[name] = {"N": str(self._random.randrange(50))}
            elif name in ("g", "h"):
                item[name] = self._key_value("S")
            else:
                item[name] = self._value()
        if self._is_odd():
            item[self._one(("", "é", "x" * 300))] = self._value()
        return item

    def _value(self, depth: int = 0) -> Any:
        if self._is_odd():
            return self._one(ODD_VALUES)
        kinds = ("S", "N", "BOOL", "NULL", "SS", "NS", "L", "M")
        match self._one(kinds[:6] if depth > 2 else kinds):
            case "S":
                return {"S": self._text()}
            case "N":
                return {"N": self._usual(("1", "20", "99"), ODD_NUMBERS)}
            case "BOOL":
                return {"BOOL": self._chance(0.5)}
            case "NULL":
                return {"NULL": True}
            case "SS":
                return {"SS": self._one((["a"], ["a", "b"], ["c", "é"]))}
            case "NS":
                return {"NS": self._one((["1"], ["1", "2"]))}
            case "L":
                return {"L": [self._value(depth + 1) for _ in range(self._random.randrange(3))]}
        return {
            "M": {self._text(): self._value(depth + 1) for _ in range(self._random.randrange(3))}
        }

    def _text(self) -> str:
        return str(self._usual(TEXTS, ODD_TEXTS))

    def _usual(self, usual: tuple[Any, ...], odd: tuple[Any, ...]) -> Any:
        return self._one(odd if self._is_odd() else usual)

    def _is_odd(self) -> bool:
        return self._chance(self._odd)

    def _chance(self, share: float) -> bool:
        return self._random.random() < share

    def _one(self, of: Any) -> Any:
        return self._random.choice(of)
