"""Reads the requests that have a short way, and answers them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import apsw
import orjson

from keyfold_engine.engine import transactions
from keyfold_engine.engine.capacity import Capacity
from keyfold_engine.engine.direct.table import DirectTable, NotPlain
from keyfold_engine.engine.direct.writes import (
    EMPTY,
    DirectBatch,
    DirectCheck,
    DirectDelete,
    DirectPut,
    DirectTransaction,
    DirectUpdate,
    Priced,
    with_capacity,
)
from keyfold_engine.engine.places import NOT_PLAIN
from keyfold_engine.engine.storage import SchemaMoved, Session
from keyfold_engine.errors import Corrupt, StorageError
from keyfold_engine.expressions import parameters
from keyfold_engine.limits import BATCH_WRITE_ITEMS, ITEM_BYTES
from keyfold_engine.values.normal import at_sight
from keyfold_engine.values.units import read_units

if TYPE_CHECKING:
    from keyfold_engine.engine.database import Database

DirectWork = DirectCheck | DirectBatch | Priced

_TEXTS_ALONE: Final = {str}
_LONGEST_EXPRESSION: Final = 1024
_LONGEST_TOKEN: Final = 36
_MOST_PARTS: Final = 100
_REQUIRED: Final = 2
_CONDITION: Final = frozenset(
    (
        "TableName",
        "ConditionExpression",
        "ExpressionAttributeNames",
        "ExpressionAttributeValues",
        "ReturnValues",
        "ReturnValuesOnConditionCheckFailure",
    )
)
_DELETE: Final = _CONDITION | {"Key"}
_PUT: Final = _CONDITION | {"Item"}
_UPDATE: Final = _DELETE | {"UpdateExpression"}
_CONSUMED: Final = "ReturnConsumedCapacity"
_DETAILS: Final = {"NONE": "", "TOTAL": "TOTAL", "INDEXES": "INDEXES"}
_GET: Final = frozenset(("TableName", "Key", "ConsistentRead", _CONSUMED))
_TRANSACTION: Final = frozenset(("TransactItems", "ClientRequestToken"))
_OLD: Final = frozenset(("NONE", "ALL_OLD"))
_ANY: Final = _OLD | {"ALL_NEW", "UPDATED_NEW"}


class Direct:
    """The short ways of one database."""

    def __init__(self, database: Database) -> None:
        self._database, self._catalog = database, database.catalog
        self._readers: dict[str, Callable[[Any], DirectCheck | DirectBatch]] = {
            "PutItem": self._put,
            "UpdateItem": self._update,
            "DeleteItem": self._delete,
            "TransactWriteItems": self._transaction,
            "BatchWriteItem": self._batch,
        }

    def answer(self, operation: str, request: Any) -> bytes | None:
        """The answer to a request; None if it has no short way."""
        if operation == "GetItem":
            return self._get(request)
        work = self.read(operation, request)
        if work is None:
            return None
        try:
            return self.write(work)
        except (Corrupt, SchemaMoved):
            # The general way names what is damaged, or reads the schema again.
            return None

    def read(self, operation: str, request: Any) -> DirectWork | None:
        """A write, as far as it can be done without the file."""
        reader = self._readers.get(operation)
        try:
            if reader is None or _CONSUMED not in request:
                return None if reader is None else reader(request)
            request = {**request}
            detail = _DETAILS[request.pop(_CONSUMED)]
            return Priced(reader(request), detail) if detail else reader(request)
        except Exception:
            # The general way finds out what is wrong.
            return None

    def write(self, work: DirectWork) -> bytes | None:
        """Commit it, or join the transaction of this thread; None if nothing was done."""
        return self._database.write(partial(self.run, work), changes_last=True)

    def run(self, work: DirectWork, session: Session) -> bytes | None:
        """Do it in a transaction."""
        try:
            if not work.is_current(self._catalog) or not work.prepare(session):
                return None
        except apsw.Error:
            raise
        except Exception:
            return None
        return work.store(self._database, session)

    def _table(self, name: Any) -> DirectTable:
        table = self._catalog.cached(name) if type(name) is str else None
        if table is None:
            raise NotPlain
        return table.direct

    def _get(self, request: Any) -> bytes | None:
        try:
            detail, consistent = "", False
            if len(request) != _REQUIRED:
                detail = _DETAILS[request.get(_CONSUMED, "NONE")]
                consistent = request.get("ConsistentRead", False)
                if not _GET.issuperset(request) or type(consistent) is not bool:
                    return None
            table = self._table(request["TableName"])
            place = table.place_of_key(request["Key"])
        except NOT_PLAIN:
            return None
        try:
            stored = self._database.find(table.definition, place)
        except (apsw.Error, StorageError):
            # The table may be gone, or the file damaged.
            return None
        answer = EMPTY if stored is None else b'{"Item":%b}' % stored.body
        if detail:
            units = read_units(0 if stored is None else stored.size, consistent=consistent)
            consumed = Capacity(table.definition.name, units).answer(detail)
            return with_capacity(answer, orjson.dumps(consumed))
        return answer

    def _put(self, request: Any) -> DirectPut:
        table, test = self._writable(request["TableName"]), None
        returns = "NONE"
        if len(request) != _REQUIRED:
            test, returns = self._expressions(request, _PUT).test(), _returned(request, _OLD)
        item = at_sight(request["Item"])
        if item is None or item.size > ITEM_BYTES:
            raise NotPlain
        return DirectPut(table, table.place(item), test, item, returns)

    def _delete(self, request: Any) -> DirectDelete:
        table, key = self._writable(request["TableName"]), request["Key"]
        test, returns = self._expressions(request, _DELETE).test(), _returned(request, _OLD)
        return DirectDelete(table, table.place_of_key(key), test, key, returns)

    def _update(self, request: Any) -> DirectUpdate:
        table, key = self._writable(request["TableName"]), request["Key"]
        place = table.place_of_key(key)
        expressions = self._expressions(request, _UPDATE)
        plan, values = expressions.update, expressions.values
        if (
            plan is None
            or not plan.is_flat
            or not plan.roots.isdisjoint(table.schema.types)
            or plan.charge.exceeds(ITEM_BYTES, values)
        ):
            raise NotPlain
        update = DirectUpdate(table, place, expressions.test(), key, _returned(request, _ANY))
        update.plan, update.values = plan, values
        return update

    def _check(self, request: Any) -> DirectCheck:
        table = self._writable(request["TableName"])
        test = self._expressions(request, _DELETE).test()
        if test is None:
            raise NotPlain
        return DirectCheck(table, table.place_of_key(request["Key"]), test)

    def _transaction(self, request: Any) -> DirectTransaction:
        if not _TRANSACTION.issuperset(request):
            raise NotPlain
        writes = [self._part(part) for part in request["TransactItems"]]
        if not 0 < len(writes) <= _MOST_PARTS:
            raise NotPlain
        _refuse_repeated(writes)
        if "ClientRequestToken" not in request:
            return DirectTransaction(writes)
        token = request["ClientRequestToken"]
        if type(token) is not str or not 0 < len(token) <= _LONGEST_TOKEN:
            raise NotPlain
        return DirectTransaction(writes, token, transactions.digest(request))

    def _part(self, part: Any) -> DirectCheck:
        [(kind, asked)] = part.items()
        if "ReturnValues" in asked:
            raise NotPlain
        match kind:
            case "Put":
                return self._put(asked)
            case "Update":
                return self._update(asked)
            case "Delete":
                return self._delete(asked)
            case "ConditionCheck":
                return self._check(asked)
        raise NotPlain

    def _batch(self, request: Any) -> DirectBatch:
        [tables] = request.values()
        writes: list[DirectCheck] = []
        for name, wishes in request["RequestItems"].items():
            for wish in wishes:
                [(kind, asked)] = wish.items()
                [(member, content)] = asked.items()
                if (kind, member) == ("PutRequest", "Item"):
                    writes.append(self._put({"TableName": name, "Item": content}))
                elif (kind, member) == ("DeleteRequest", "Key"):
                    writes.append(self._delete({"TableName": name, "Key": content}))
                else:
                    raise NotPlain
        if not all(tables.values()) or not 0 < len(writes) <= BATCH_WRITE_ITEMS:
            raise NotPlain
        _refuse_repeated(writes)
        return DirectBatch(writes)

    def _writable(self, name: Any) -> DirectTable:
        table = self._table(name)
        if not table.writes:
            raise NotPlain
        return table

    def _expressions(self, request: Any, known: frozenset[str]) -> parameters.ExpressionParameters:
        """The expressions of a request that has no other parameters."""
        if not known.issuperset(request):
            raise NotPlain
        for member in ("UpdateExpression", "ConditionExpression"):
            if member in request:
                text = request[member]
                if type(text) is not str or len(text) > _LONGEST_EXPRESSION:
                    raise NotPlain
        # If the condition fails, the general way knows what to return.
        if request.get("ReturnValuesOnConditionCheckFailure", "NONE") not in _OLD:
            raise NotPlain
        if "ExpressionAttributeNames" in request:
            names = request["ExpressionAttributeNames"]
            if {*map(type, names.values())} != _TEXTS_ALONE:
                raise NotPlain
        if "ExpressionAttributeValues" in request:
            values = at_sight(request["ExpressionAttributeValues"])
            if not values:
                raise NotPlain
            request = {**request, "ExpressionAttributeValues": values}
        return parameters.read(request)


def _returned(request: Any, known: frozenset[str]) -> str:
    returns: str = request.get("ReturnValues", "NONE")
    if returns not in known:
        raise NotPlain
    return returns


def _refuse_repeated(writes: list[DirectCheck]) -> None:
    if len({(each.table.id, each.place) for each in writes}) < len(writes):
        raise NotPlain
