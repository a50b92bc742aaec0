"""A migration whose disk fills up again and again: it says so, and goes on when there is room."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw
from tests.fault import disks
from tests.unit.migrations.conftest import OldOrder, Shop, after, before, new_table, order_move

from keyfold.errors import Full
from keyfold.migrations import Backend, Migration, ScanPace, add
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.engine import Engine

ORDERS = 30
ROOM = 40
"""How many writes of files the disk takes each time."""


class SmallDisk(apsw.VFS):
    """A disk that is full after some writes."""

    def __init__(self, real: str) -> None:
        self.real, self.room = real, -1
        super().__init__("small disk", real, makedefault=True)

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:
        return SmallFile(self, name, flags)


class SmallFile(apsw.VFSFile):
    def __init__(self, disk: SmallDisk, name: Any, flags: list[int]) -> None:
        super().__init__(disk.real, name, flags)
        self._disk = disk

    def xWrite(self, data: bytes, offset: int) -> None:
        if self._disk.room == 0:
            raise apsw.FullError("the disk is full")
        self._disk.room -= 1
        super().xWrite(data, offset)


def opened(engine: Engine) -> Shop:
    client = EmbeddedClient(engine)
    migration = Migration("m", [add(new_table.schema), order_move()])
    old = before.open(client, create_tables=False)
    return Shop(engine, Backend(client), old, after.open(client, create_tables=False), migration)


def test_a_migration_on_a_full_disk_stops_and_goes_on_with_room(tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    with Engine.open(path) as engine:
        before.open(EmbeddedClient(engine))
        shop = opened(engine)
        for number in range(ORDERS):
            shop.old_order(f"o{number:02d}", number)
    stopped, phase = 0, ""
    with disks.beneath(SmallDisk) as disk:
        while phase != "hold":
            with Engine.open(path) as engine:
                shop = opened(engine)
                disk.room = ROOM
                try:
                    phase = shop.migrator(pace=ScanPace(segments=1, page=3)).apply("hold").phase
                except Full:
                    stopped += 1
                disk.room = -1
                assert sum(1 for _ in shop.old.scan(OldOrder)) == ORDERS
    assert stopped > 3
    with Engine.open(path) as engine:
        shop = opened(engine)
        assert shop.new_items() == shop.expected_items()
