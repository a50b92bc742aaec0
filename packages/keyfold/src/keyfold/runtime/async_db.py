"""`AsyncDb`: a design opened on a backend, for an event loop."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from types import TracebackType
from typing import Any, Literal, ParamSpec, TypeVar, cast, overload

from keyfold.design.address import Ref
from keyfold.design.entity import Entity
from keyfold.design.pattern import Pattern
from keyfold.design.query import Query
from keyfold.design.read import Page, Read
from keyfold.design.signatures import Changeable, Movable
from keyfold.errors import PlanError, TableNotFound
from keyfold.runtime import (
    batch,
    idempotency,
    reads,
    tables,
    transaction,
)
from keyfold.runtime import (
    bulk as bulk_writes,
)
from keyfold.runtime.arguments import awaited, ref_of
from keyfold.runtime.budget import OnLoop
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Answer, Call, Flow, drive_async
from keyfold.runtime.handle import Handle
from keyfold.runtime.intent import Delete, Write, commit_label
from keyfold.runtime.move import move
from keyfold_engine.clients.protocol import AsyncClient

E = TypeVar("E", bound=Entity)
P = ParamSpec("P")
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")
F = TypeVar("F")
G = TypeVar("G")
T = TypeVar("T")


class AsyncDb(Handle):
    """Typed reads and writes of one design; open it with `await design.open_async(address)`."""

    opened_by = "await design.open_async(...)"

    def __init__(self, context: Context, client: AsyncClient, *, on_loop: OnLoop = "log") -> None:
        super().__init__(context, on_loop)
        self.client = client

    async def run(self, flow: Flow[T], label: str = "", requests: int | None = None) -> T:
        """Run a flow on this backend and count its requests under a label."""
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
                raise tables.with_table_name(self.context, absent, request) from None
            counted.after(one, answer)
            return answer

        return await drive_async(flow, call)

    async def read_pattern_async(self, pattern: Pattern[Any, T], arguments: dict[str, Any]) -> T:
        asked = reads.Asked(arguments, pattern.name, pattern.cursor, budget=pattern.requests)
        flow: Flow[T] = reads.read(self.context, pattern.read, asked)
        return await self.run(flow, pattern.name, pattern.requests)

    async def read(
        self, wanted: Read[T], *, cursor: str | None = None, limit: int | None = None
    ) -> T:
        """Run a read that is not a declared pattern."""
        asked = reads.Asked({}, cursor=cursor, limit=limit)
        flow: Flow[T] = reads.read(self.context, wanted, asked)
        return await self.run(flow)

    async def get(self, ref: Ref[E], *, consistent: bool = True) -> E:
        """Return the item; raise NotFound if it does not exist. `find` returns None instead."""
        self.meter.single_read(ref)
        return await self.run(reads.get(self.context, ref, consistent=consistent))

    async def find(self, ref: Ref[E], *, consistent: bool = True) -> E | None:
        """Return the item, or None."""
        self.meter.single_read(ref)
        return await self.run(reads.find(self.context, ref, consistent=consistent))

    async def get_many(self, refs: Sequence[Ref[E]]) -> list[E | None]:
        """Items in the order of their refs, None for missing ones."""
        return await self.run(batch.get_many(self.context, refs))

    @overload
    async def get_together(self, a: Ref[A], /) -> tuple[A | None]: ...
    @overload
    async def get_together(self, a: Ref[A], b: Ref[B], /) -> tuple[A | None, B | None]: ...
    @overload
    async def get_together(
        self, a: Ref[A], b: Ref[B], c: Ref[C], /
    ) -> tuple[A | None, B | None, C | None]: ...
    @overload
    async def get_together(
        self, a: Ref[A], b: Ref[B], c: Ref[C], d: Ref[D], /
    ) -> tuple[A | None, B | None, C | None, D | None]: ...
    @overload
    async def get_together(self, *refs: Ref[T]) -> tuple[T | None, ...]: ...
    async def get_together(self, *refs: Ref[Any]) -> tuple[Any, ...]:
        """Up to 100 items read in one transaction (one snapshot), None for missing ones; costs
        twice as much.
        """
        return await self.run(batch.get_together(self.context, refs), "get_together")

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
        """Iterate over every item of a query, fetching pages as needed."""
        async for page in self.pages(wanted):
            for item in page.items:
                yield item

    async def scan(
        self,
        entity: type[E],
        *,
        segments: int | None = None,
        segment: int | None = None,
        of: int | None = None,
    ) -> AsyncIterator[E]:
        """Iterate over every item of an entity; reads the whole table.

        `segments=4` reads four parts at once; `segment=0, of=4` reads one part only.
        """
        walks = batch.scan_walks(self.context, entity, segments, segment, of)
        while not all(walk.ended for walk in walks):
            for item in await self.run(batch.scan_page(self.context, entity, walks)):
                yield item

    async def create(self, new: E, *, refuse: Exception | None = None) -> E:
        """Write a new item; fails if an item with the same key exists, with `refuse` if it is
        given.
        """
        (written,) = await self.transact(transaction.create(new, refuse=refuse))
        return written

    async def put(
        self,
        new: E,
        *,
        where: Callable[[E], object] | None = None,
        refuse: Exception | None = None,
    ) -> E:
        """Write an item, replacing the one that exists; `refuse` is raised if `where` fails."""
        (written,) = await self.transact(transaction.put(new, where=where, refuse=refuse))
        return written

    async def update(
        self,
        target: Changeable[P, E] | Ref[Changeable[P, E]],
        /,
        *args: P.args,
        **changes: P.kwargs,
    ) -> E:
        """Change fields; None or `clear` removes a value, other fields keep theirs.

        Beside fields: `where`, `expected_version`, and `refuse`, which is raised if the item is
        missing or `where` fails.
        """
        flow = transaction.change(self.context, target, args, changes)
        written: E = await self.run(flow, f"update {ref_of(target).entity.__name__}")
        return written

    async def upsert(
        self, target: Ref[Changeable[P, E]], /, *args: P.args, **changes: P.kwargs
    ) -> E:
        """Change fields, or create the item from these fields and its defaults if it does not
        exist.
        """
        change: Write[E] = transaction.upsert(cast("Any", target), *args, **changes)
        (written,) = await self.transact(change)
        return written

    @overload
    async def delete(
        self,
        target: E | Ref[E],
        /,
        *,
        where: Callable[[E], object] | None = None,
        must_exist: bool = False,
        returning: Literal[False] = False,
        refuse: Exception | None = None,
    ) -> None: ...
    @overload
    async def delete(
        self,
        target: E | Ref[E],
        /,
        *,
        where: Callable[[E], object] | None = None,
        must_exist: bool = False,
        returning: Literal[True],
        refuse: Exception | None = None,
    ) -> E | None: ...
    async def delete(
        self,
        target: E | Ref[E],
        /,
        *,
        where: Callable[[E], object] | None = None,
        must_exist: bool = False,
        returning: bool = False,
        refuse: Exception | None = None,
    ) -> E | None:
        """Delete an item and everything derived from it; `returning=True` returns the old
        item, or None.
        """
        gone: Delete[E | None] = transaction.delete(  # type: ignore[call-overload]
            target, where=where, must_exist=must_exist, returning=returning, refuse=refuse
        )
        (found,) = await self.transact(gone)
        return found

    async def move(
        self,
        target: Movable[P, E] | Ref[Movable[P, E]],
        /,
        *args: P.args,
        **changes: P.kwargs,
    ) -> E:
        """Change an item's primary key: delete and create in one transaction."""
        if args:
            raise PlanError("move takes the item or its address, then changes by name")
        moved: E = await self.run(move(self.context, cast("Any", target), changes), "move")
        return moved

    @overload
    async def transact(self, a: Write[A], /, *, token: str | None = None) -> tuple[A]: ...
    @overload
    async def transact(
        self, a: Write[A], b: Write[B], /, *, token: str | None = None
    ) -> tuple[A, B]: ...
    @overload
    async def transact(
        self, a: Write[A], b: Write[B], c: Write[C], /, *, token: str | None = None
    ) -> tuple[A, B, C]: ...
    @overload
    async def transact(
        self, a: Write[A], b: Write[B], c: Write[C], d: Write[D], /, *, token: str | None = None
    ) -> tuple[A, B, C, D]: ...
    @overload
    async def transact(
        self,
        a: Write[A],
        b: Write[B],
        c: Write[C],
        d: Write[D],
        e: Write[G],
        /,
        *,
        token: str | None = None,
    ) -> tuple[A, B, C, D, G]: ...
    @overload
    async def transact(
        self,
        a: Write[A],
        b: Write[B],
        c: Write[C],
        d: Write[D],
        e: Write[G],
        f: Write[F],
        /,
        *,
        token: str | None = None,
    ) -> tuple[A, B, C, D, G, F]: ...
    @overload
    async def transact(self, *intents: Write[Any], token: str | None = None) -> tuple[Any, ...]: ...
    async def transact(self, *intents: Any, token: str | None = None) -> Any:
        """Write all intents or none; see `create`, `put`, `update`, `delete`, `check`."""
        flow = transaction.commit(self.context, intents, token)
        return await self.run(flow, commit_label(intents))

    async def put_many(
        self,
        entities: Sequence[Entity],
        progress: batch.Progress | None = None,
        *,
        drop_undeclared: bool = False,
    ) -> int:
        """Unconditional puts in batches; returns how many were written.

        Existing items keep attributes that the design does not declare, which takes a read first.
        `drop_undeclared` replaces items completely, without that read.
        """
        flow = batch.put_many(self.context, entities, progress, carry=not drop_undeclared)
        return await self.run(flow, "put_many")

    async def delete_many(
        self, refs: Sequence[Ref[Any]], progress: batch.Progress | None = None
    ) -> int:
        """Unconditional deletes in batches; returns how many were sent."""
        return await self.run(batch.delete_many(self.context, refs, progress), "delete_many")

    async def bulk(
        self,
        writes: Iterable[bulk_writes.BulkWrite],
        *,
        start: int = 0,
        on_failure: Literal["raise", "collect"] = "raise",
        progress: Callable[[bulk_writes.BulkReport], None] | None = None,
    ) -> bulk_writes.BulkReport:
        """Thousands of creates, puts, updates and deletes, each with all its consequences.

        Plain entities are created. To resume, pass the last `position` that `progress` received.
        """
        flow = bulk_writes.bulk(
            self.context, writes, start=start, on_failure=on_failure, progress=progress
        )
        return await self.run(flow, "bulk")

    async def delete_collection(
        self, wanted: Query[Any], progress: batch.Progress | None = None
    ) -> int:
        """Delete every item of a query with everything derived from it; returns how many."""
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
        """Run the work once per request id; later calls return the stored result."""
        claimed = await self.run(idempotency.claim(self.context, request_id, payload, ttl))
        if claimed.stored is not None:
            return idempotency.restore_result(claimed.stored, result)
        try:
            done = await awaited(work())
        except BaseException:
            await self.run(idempotency.release(claimed))
            raise
        await self.run(idempotency.finish(claimed, done))
        return done

    async def close(self) -> None:
        if self.pool is not None:
            self.pool.shutdown()
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
