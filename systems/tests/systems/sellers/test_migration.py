"""The whole restructuring while the sellers work; the migrator is killed again and again.

`make migration-full` runs it on 100,000 records and a server; the suite on fewer, in a file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.peers.conftest import keyfold_server

from keyfold_engine.clients import connect, connect_async
from keyfold_engine.clients.embedded import AsyncEmbeddedClient, EmbeddedClient
from keyfold_engine.engine import Engine

from .changeover import Place, restructure

RECORDS = int(os.environ.get("SELLERS_RECORDS", "800"))
FULL = RECORDS >= 5_000
pytestmark = pytest.mark.timeout(0 if FULL else 600)


@contextmanager
def place(folder: Path) -> Iterator[Place]:
    """A file, or a server in a process of its own where many records are asked for."""
    if FULL:
        with keyfold_server(folder, workers=1) as url:
            client = connect(url)
            yield Place(client, connect_async(url), url, apart=True)
            client.close()
        return
    with Engine.open(folder / "sellers.db", durability="relaxed") as engine:
        yield Place(EmbeddedClient(engine), AsyncEmbeddedClient(engine), engine.path)


async def test_every_record_survives_the_restructuring_and_no_request_fails(
    tmp_path: Path,
) -> None:
    with place(tmp_path) as given:
        town = await restructure(given, RECORDS, pause=0.02 if FULL else 0.05)
        await given.calls.close()
    print(
        f"{RECORDS:,} records, {town.requests:,} requests meanwhile, {town.killed} kills; "
        f"the slowest requests: {town.slowest}"
    )
    assert town.killed > 0
    assert town.reads > 100
