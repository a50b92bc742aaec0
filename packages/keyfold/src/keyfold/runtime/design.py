"""Opening a design on a backend."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from os import PathLike
from pathlib import Path
from typing import Any, cast

from keyfold.design.design import Declarations
from keyfold.design.schema import TableSchema
from keyfold.errors import PlanError
from keyfold.runtime.abilities import ONCE, is_asked, refuse_lacking
from keyfold.runtime.async_db import AsyncDb
from keyfold.runtime.budget import OnLoop
from keyfold.runtime.context import Context, Followed
from keyfold.runtime.db import Db
from keyfold.runtime.tables import refuse_dropped
from keyfold.runtime.undecodable import OnUndecodable
from keyfold_engine.clients import connect, connect_async
from keyfold_engine.clients.address import Embedded, parse
from keyfold_engine.clients.protocol import AsyncClient, Client
from keyfold_engine.clock import Clock, SystemClock

PARALLEL_REQUESTS = 16
_TABLE_NAME = re.compile(r"[A-Za-z0-9_.-]{3,255}|arn:.+")


class Design(Declarations):
    """A set of tables, entities and access patterns that belong together."""

    def open(
        self,
        backend: str | PathLike[str] | Client | Any,
        *,
        clock: Clock | None = None,
        table_prefix: str = "",
        table_names: Mapping[str, str] | None = None,
        cursor_secret: bytes | str | Sequence[bytes] = b"",
        on_loop: OnLoop = "log",
        on_undecodable: OnUndecodable = "raise",
        create_tables: bool | None = None,
        migration: Followed | Sequence[Followed] = (),
    ) -> Db:
        """Open the design on an address, an open client, or a boto3 session or DynamoDB client.

        Embedded backends get missing tables at once; elsewhere pass `create_tables=True`. An
        embedded engine uses the handle's clock. The first of several cursor secrets seals new
        cursors, the others open old ones. With a `migration`, the handle follows it.
        """
        given = hasattr(backend, "call")
        client = cast("Client", backend) if given else connect(backend, clock=clock)
        remote = _is_remote(backend)
        followed = _as_sequence(migration)
        context = self._context(
            clock, table_prefix, table_names, cursor_secret, backend, on_undecodable, followed
        )
        if is_asked(backend):
            with Db(context, connect(backend, ONCE)) as asked:
                asked.run(refuse_lacking(self, backend))
        for one in followed:
            client = one.routed(client, context)
        db = Db(context, client, on_loop=on_loop)
        db.pool = ThreadPoolExecutor(PARALLEL_REQUESTS) if remote else None
        # The migration creates its own tables.
        if create_tables is None and not (remote or followed):
            db.run(refuse_dropped(context))
            create_tables = True
        if create_tables:
            db.create_tables()
        return db

    async def open_async(
        self,
        backend: str | PathLike[str] | AsyncClient | Any,
        *,
        clock: Clock | None = None,
        table_prefix: str = "",
        table_names: Mapping[str, str] | None = None,
        cursor_secret: bytes | str | Sequence[bytes] = b"",
        on_loop: OnLoop = "log",
        on_undecodable: OnUndecodable = "raise",
        create_tables: bool | None = None,
        migration: Followed | Sequence[Followed] = (),
    ) -> AsyncDb:
        """The same for an event loop."""
        given = hasattr(backend, "call")
        client = cast("AsyncClient", backend) if given else connect_async(backend, clock=clock)
        remote = _is_remote(backend)
        followed = _as_sequence(migration)
        context = self._context(
            clock, table_prefix, table_names, cursor_secret, backend, on_undecodable, followed
        )
        if is_asked(backend):
            async with AsyncDb(context, connect_async(backend, ONCE)) as asked:
                await asked.run(refuse_lacking(self, backend))
        for one in followed:
            client = one.routed_async(client, context)
        db = AsyncDb(context, client, on_loop=on_loop)
        if create_tables is None and not (remote or followed):
            await db.run(refuse_dropped(context))
            create_tables = True
        if create_tables:
            await db.create_tables()
        return db

    def _context(
        self,
        clock: Clock | None,
        table_prefix: str,
        table_names: Mapping[str, str] | None,
        cursor_secret: bytes | str | Sequence[bytes],
        backend: Any,
        on_undecodable: OnUndecodable,
        followed: Sequence[Followed],
    ) -> Context:
        self.complete()
        context = Context(
            self,
            clock or SystemClock(),
            table_prefix,
            table_names or {},
            cursor_secret,
            _data_file(backend),
            on_undecodable,
            followed,
        )
        for table in self.schema.tables:
            _check_name(table, context.physical(table))
        return context


def _check_name(table: TableSchema, called: str) -> None:
    if not _TABLE_NAME.fullmatch(called):
        raise PlanError(
            f"{table.place}: the table {table.name} would be called {called!r}; DynamoDB takes "
            "3 to 255 letters, digits, _ . and -. Rename it, or set table_prefix or table_names"
        )


def _as_sequence(migration: Followed | Sequence[Followed]) -> Sequence[Followed]:
    return migration if isinstance(migration, Sequence) else (migration,)


def _data_file(backend: Any) -> Path | None:
    """The data file, if this process has it open."""
    if isinstance(backend, PathLike):
        return Path(backend)
    address = parse(backend) if isinstance(backend, str) else None
    on_disk = isinstance(address, Embedded) and address.path != ":memory:"
    return Path(address.path) if isinstance(address, Embedded) and on_disk else None


def _is_remote(backend: Any) -> bool:
    """Whether others may manage the tables: the backend is an address or boto3."""
    if isinstance(backend, str):
        return "://" in backend
    return not isinstance(backend, PathLike) and not hasattr(backend, "call")
