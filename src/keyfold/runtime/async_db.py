"""`AsyncDb`: a design on a backend, for an event loop."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, TypeVar

from keyfold.clients.protocol import AsyncClient
from keyfold.design.entity import Entity
from keyfold.design.keys import Ref
from keyfold.design.pattern import Pattern
from keyfold.design.read import Page, Query, Read
from keyfold.errors import TableNotFound
from keyfold.runtime import batch, idempotency, reads, tables, transaction, writes
from keyfold.runtime.budget import OnLoop, Work, current_work
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Answer, Call, Flow, drive_async
from keyfold.runtime.intent import Intent, described
from keyfold.runtime.metering import Meter

E = TypeVar("E", bound=Entity)
T = TypeVar("T")


class AsyncDb:
    """Typed reads and writes of one design; open it with `await design.open_async(address)`."""

    def __init__(self, context: Context, client: AsyncClient, *, on_loop: OnLoop = "log") -> None:
        self.context = context
        self.client = client
        self.meter = Meter()
        self._on_loop: OnLoop = on_loop

    async def run(self, flow: Flow[T], label: str = "", requests: int | None = None) -> T:
        """Drive a flow on this backend, counting its requests under a label."""
        counted = self.meter.start(label, requests)

        async def call(one: Call) -> Answer:
            request = counted.before(one)
            try:
                if counted.watch is None:
                    answer = await self.client.call(one.operation, request)
                else:
                    with counted.watch(one) as answered:
                        answer = await self.client.call(one.operation, request)
                        answered(answer)
            except TableNotFound as absent:
                raise tables.named(absent, request) from None
            counted.after(one, answer)
            return answer

        return await drive_async(flow, call)

    async def read_pattern_async(self, pattern: Pattern[Any, T], arguments: dict[str, Any]) -> T:
        flow = reads.read(
            self.context, pattern.read, arguments, name=pattern.name, cursor=pattern.cursor
        )
        return await self.run(flow, pattern.name, pattern.requests)

    async def read(
        self, wanted: Read[T], *, cursor: str | None = None, limit: int | None = None
    ) -> T:
        """Read something that is no declared pattern."""
        return await self.run(reads.read(self.context, wanted, {}, cursor=cursor, limit=limit))

    async def get(self, ref: Ref[E], *, consistent: bool = True) -> E:
        """The item, or NotFound."""
        self.meter.single_read(ref)
        return await self.run(reads.get(self.context, ref, consistent=consistent))

    async def find(self, ref: Ref[E], *, consistent: bool = True) -> E | None:
        """The item, or None."""
        self.meter.single_read(ref)
        return await self.run(reads.find(self.context, ref, consistent=consistent))

    async def get_many(self, refs: Sequence[Ref[E]]) -> list[E | None]:
        """Items in the order of their refs, None for missing ones."""
        return await self.run(batch.get_many(self.context, refs))

    async def pages(
        self, wanted: Read[Page[T]], *, limit: int | None = None
    ) -> AsyncIterator[Page[T]]:
        cursor: str | None = None
        while True:
            page = await self.read(wanted, cursor=cursor, limit=limit)
            yield page
            cursor = page.cursor
            if cursor is None:
                return

    async def iterate(self, wanted: Read[Page[T]]) -> AsyncIterator[T]:
        """Every item of a query, page after page."""
        async for page in self.pages(wanted):
            for item in page.items:
                yield item

    async def scan(
        self, entity: type[E], *, segment: int = 0, segments: int = 1
    ) -> AsyncIterator[E]:
        """Every item of an entity; reads the whole table."""
        start: dict[str, Any] | None = None
        while True:
            flow = batch.scan_page(
                self.context, entity.__spec__, start, segment=segment, segments=segments
            )
            items, start = await self.run(flow)
            for item in items:
                yield item
            if start is None:
                return

    async def create(self, new: E) -> E:
        """Write a new item; one with the same key is an error."""
        written: E = (await self.transact(transaction.create(new)))[0]
        return written

    async def put(self, new: E, *, where: Callable[[E], object] | None = None) -> E:
        """Write an item, new or replaced."""
        written: E = (await self.transact(transaction.put(new, where=where)))[0]
        return written

    async def update(
        self, target: E | Ref[E], /, *, where: Callable[[E], object] | None = None, **changes: Any
    ) -> E:
        """Change fields; None or `clear` takes a value away, fields not named stay."""
        written: E = (await self.transact(transaction.update(target, where=where, **changes)))[0]
        return written

    async def delete(
        self,
        target: E | Ref[E],
        /,
        *,
        where: Callable[[E], object] | None = None,
        must_exist: bool = False,
    ) -> None:
        """Delete an item and what is kept for it."""
        await self.transact(transaction.delete(target, where=where, must_exist=must_exist))

    async def move(self, target: E | Ref[E], /, **changes: Any) -> E:
        """Change an item's primary key: delete and create in one transaction."""
        moved: E = await self.run(writes.move(self.context, target, changes), "move")
        return moved

    async def transact(self, *intents: Intent, token: str | None = None) -> list[Any]:
        """Write all of them or none; see `create`, `put`, `update`, `delete`, `check`."""
        return await self.run(writes.commit(self.context, intents, token=token), described(intents))

    async def put_many(
        self, entities: Sequence[Entity], progress: batch.Progress | None = None
    ) -> int:
        """Unguarded puts in batches; gives how many."""
        return await self.run(batch.put_many(self.context, entities, progress), "put_many")

    async def delete_many(
        self, refs: Sequence[Ref[Any]], progress: batch.Progress | None = None
    ) -> int:
        """Unguarded deletes in batches; gives how many."""
        return await self.run(batch.delete_many(self.context, refs, progress), "delete_many")

    async def delete_collection(
        self, wanted: Query[Any], progress: batch.Progress | None = None
    ) -> int:
        """Delete every item of a query and what is kept for it; gives how many."""
        flow = batch.delete_collection(self.context, wanted, progress)
        return await self.run(flow, "delete_collection")

    async def create_tables(self) -> list[str]:
        """Create the design's tables where they are missing."""
        return await self.run(tables.create_tables(self.context), "create_tables")

    async def once(
        self,
        request_id: str,
        work: Callable[[], Awaitable[T]],
        *,
        result: type[T],
        payload: Any = None,
        ttl: float = idempotency.TTL_SECONDS,
    ) -> T:
        """Do the work once for a request id; later calls get the stored result."""
        claimed = await self.run(idempotency.claim(self.context, request_id, payload, ttl))
        if claimed.stored is not None:
            return idempotency.restored(claimed.stored, result)
        try:
            done = await work()
        except BaseException:
            await self.run(idempotency.release(claimed))
            raise
        await self.run(idempotency.finish(claimed, done))
        return done

    @contextmanager
    def work(self, name: str, *, requests: int | None = None) -> Iterator[Work]:
        """Count requests and units by pattern; a loop of single reads is reported as N+1."""
        work = Work(name, self._on_loop, requests)
        token = current_work.set(work)
        try:
            yield work
        finally:
            current_work.reset(token)

    async def close(self) -> None:
        await self.client.close()

    async def __aenter__(self) -> AsyncDb:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()
