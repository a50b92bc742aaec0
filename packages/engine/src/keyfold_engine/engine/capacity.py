"""Consumed capacity in DynamoDB's exact units."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from keyfold_engine.engine.tables import IndexDefinition


class Capacity:
    """What one request consumed of one table."""

    __slots__ = ("further_indexes", "global_indexes", "local_indexes", "name", "table")

    def __init__(self, name: str, table: float = 0.0) -> None:
        self.name = name
        self.table = table
        self.local_indexes: dict[str, float] = {}
        self.global_indexes: dict[str, float] = {}
        # Bytes of vector indexes, which are not part of the units.
        self.further_indexes: dict[str, int] = {}

    def add_index(self, index: IndexDefinition, units: float) -> None:
        # An index that a write does not touch is left out of the answer.
        if not units:
            return
        indexes = self.local_indexes if index.is_local else self.global_indexes
        indexes[index.name] = indexes.get(index.name, 0.0) + units

    def add(self, other: Capacity) -> None:
        self.table += other.table
        for name, size in other.further_indexes.items():
            self.further_indexes[name] = self.further_indexes.get(name, 0) + size
        for mine, theirs in (
            (self.local_indexes, other.local_indexes),
            (self.global_indexes, other.global_indexes),
        ):
            for name, units in theirs.items():
                mine[name] = mine.get(name, 0.0) + units

    @property
    def total(self) -> float:
        return self.table + sum(self.local_indexes.values()) + sum(self.global_indexes.values())

    def doubled(self) -> Capacity:
        """The cost inside a transaction: twice for the table, once for indexes."""
        twice = Capacity(self.name, self.table * 2)
        twice.local_indexes = dict(self.local_indexes)
        twice.global_indexes = dict(self.global_indexes)
        twice.further_indexes = dict(self.further_indexes)
        return twice

    def answer(self, detail: str, kind: str | None = None) -> dict[str, Any]:
        """The ConsumedCapacity member; transactions also name the `kind` of their units."""
        answer: dict[str, Any] = {"TableName": self.name, **_units(self.total, kind)}
        if detail == "INDEXES":
            answer["Table"] = _units(self.table, kind)
            for member, indexes in (
                ("LocalSecondaryIndexes", self.local_indexes),
                ("GlobalSecondaryIndexes", self.global_indexes),
            ):
                if indexes:
                    answer[member] = {name: _units(u, kind) for name, u in indexes.items()}
            if self.further_indexes:
                answer["VectorIndexes"] = {
                    name: {"VectorWriteRequestBytes": float(size)}
                    for name, size in self.further_indexes.items()
                }
        return answer


def _units(units: float, kind: str | None) -> dict[str, float]:
    if kind is None:
        return {"CapacityUnits": units}
    return {"CapacityUnits": units, f"{kind}CapacityUnits": units}


def wanted(request: dict[str, Any]) -> str | None:
    """The level of detail that the request asks for, if any."""
    detail = request.get("ReturnConsumedCapacity")
    return detail if detail in ("TOTAL", "INDEXES") else None


def tables_of(request: Mapping[str, Any]) -> Iterator[str]:
    """The tables that a request about items names."""
    if "TableName" in request:
        yield request["TableName"]
    yield from request.get("RequestItems") or ()
    for wish in request.get("TransactItems") or ():
        yield from (part["TableName"] for part in wish.values())


def name_as_asked(answer: dict[str, Any], request: dict[str, Any]) -> None:
    """Name tables in the consumed capacity by ARN where the request did."""
    consumed = answer.get("ConsumedCapacity")
    if consumed is None:
        return
    asked = (name for name in tables_of(request) if name.startswith("arn:"))
    arns = {name.rpartition("/")[2]: name for name in asked}
    for each in (consumed if isinstance(consumed, list) else [consumed]) if arns else ():
        if (name := each.get("TableName")) in arns:
            each["TableName"] = arns[name]


def of_writes(
    consumed: Iterable[Capacity], detail: str, *, transacted: bool = False
) -> list[dict[str, Any]]:
    """What the writes of a request consumed, each table's in one."""
    ledger = Ledger()
    for each in consumed:
        ledger.add(each.doubled() if transacted else each)
    return ledger.answer(detail, "Write" if transacted else None)


class Ledger:
    """The capacity of a request that touches several tables, in order of use."""

    def __init__(self) -> None:
        self._tables: dict[str, Capacity] = {}

    def add(self, capacity: Capacity) -> None:
        known = self._tables.get(capacity.name)
        if known is None:
            self._tables[capacity.name] = capacity
        else:
            known.add(capacity)

    def answer(self, detail: str, kind: str | None = None) -> list[dict[str, Any]]:
        return [capacity.answer(detail, kind) for capacity in self._tables.values()]
