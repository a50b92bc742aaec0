"""An item that must be checked before a unit of work continues, read with the work's next read.

With a consistent GetItem or BatchGetItem it needs no request of its own; before anything else it is
read alone. Nothing else of the work is sent until it is judged.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar

from keyfold.design.address import Ref
from keyfold.design.entity import Entity
from keyfold_engine.limits import BATCH_GET_ITEMS
from keyfold.runtime.budget import current_work
from keyfold.runtime.flow import Answer, AsyncCaller, Call, Flow
from keyfold.runtime.recognition import is_expired
from keyfold.runtime.walk import unprocessed_keys

if TYPE_CHECKING:
    from keyfold.runtime.async_db import AsyncDb

E = TypeVar("E", bound=Entity)
Item = dict[str, Any]
_PLAIN: Final = frozenset({"TableName", "Key", "ConsistentRead"})


async def judge_first(db: AsyncDb, ref: Ref[E], judge: Callable[[E | None], None]) -> None:
    """Let `judge` see an item before the current unit of work writes anything.

    It raises an error if the work may not go on. Outside a unit of work the item is read at once.
    """
    if (work := current_work.get()) is None:
        judge(await db.find(ref))
        return
    spec = ref.entity.__spec__

    def decide(item: Item | None) -> None:
        if item is not None and is_expired(db.context, spec, item):
            item = None
        judge(None if item is None else spec.decode(item))

    work.along = ReadAlong(db.context.physical(spec.table.schema), ref.wire(), decide)


async def judge_now(db: AsyncDb) -> None:
    """Let it be judged if the current unit of work read and wrote nothing yet."""
    work = current_work.get()
    if work is not None and work.along is not None and not work.along.begun:
        await db.run(work.along.read_alone())


class ReadAlong:
    """One item, and what judges it."""

    def __init__(
        self, table: str, key: Mapping[str, Any], judge: Callable[[Item | None], None]
    ) -> None:
        self._table, self._key, self._judge = table, dict(key), judge
        alone = {"TableName": table, "Key": self._key, "ConsistentRead": True}
        self._alone = Call("GetItem", alone, excused=True)
        self._verdict: asyncio.Future[None] | None = None

    @property
    def begun(self) -> bool:
        return self._verdict is not None

    def read_alone(self) -> Flow[None]:
        yield self._alone

    async def send_with(self, call: Call, send: AsyncCaller) -> Answer:
        """Send a call, and the read with it or before it; raises what the judge raises."""
        if self._verdict is not None:
            await asyncio.shield(self._verdict)
            return await send(call)
        verdict = self._verdict = asyncio.get_running_loop().create_future()
        try:
            answer, item = await self._read(call, send)
        except BaseException as problem:
            self._verdict = None  # unread: the next call tries again
            _fail(verdict, problem)
            raise
        try:
            self._judge(item)
        except BaseException as problem:
            _fail(verdict, problem)
            raise
        verdict.set_result(None)
        return await send(call) if answer is None else answer

    async def _read(self, call: Call, send: AsyncCaller) -> tuple[Answer | None, Item | None]:
        """The answer to the call, None if it is still to be sent, and the item."""
        if (joined := self._with_key(call)) is None:
            answer = await send(self._alone)
            return (answer if call is self._alone else None), answer.get("Item")
        answer = await send(joined)
        left = unprocessed_keys(answer, self._table)
        if self._key in left:
            # Throttled: it is asked for alone, and the call is sent as it was.
            return None, (await send(self._alone)).get("Item")
        items = answer["Responses"].get(self._table, [])
        mine = next((one for one in items if _is_at(one, self._key)), None)
        others = [one for one in items if one is not mine]
        if call.operation == "BatchGetItem":
            responses = {**answer["Responses"], self._table: others}
            return {**answer, "Responses": responses}, mine
        if left:
            return None, mine
        return ({"Item": others[0]} if others else {}), mine

    def _with_key(self, call: Call) -> Call | None:
        """The call with one more key, if it has room for it."""
        request = call.request
        if call.operation == "GetItem" and request["TableName"] == self._table:
            if request.keys() - _PLAIN or not request.get("ConsistentRead"):
                return None
            tables: dict[str, Any] = {}
            keys = [request["Key"]]
        elif call.operation == "BatchGetItem" and self._table in request["RequestItems"]:
            tables = request["RequestItems"]
            if tables[self._table].keys() != {"Keys", "ConsistentRead"}:
                return None
            keys = tables[self._table]["Keys"]
        else:
            return None
        others = sum(len(one["Keys"]) for name, one in tables.items() if name != self._table)
        if self._key in keys or others + len(keys) >= BATCH_GET_ITEMS:
            return None
        here = {"Keys": [*keys, self._key], "ConsistentRead": True}
        return Call("BatchGetItem", {"RequestItems": {**tables, self._table: here}}, call.excused)


def _fail(verdict: asyncio.Future[None], problem: BaseException) -> None:
    verdict.set_exception(problem)
    verdict.exception()  # not reported as unseen: often no other task awaits it


def _is_at(item: Item, key: Mapping[str, Any]) -> bool:
    return all(item.get(name) == value for name, value in key.items())
