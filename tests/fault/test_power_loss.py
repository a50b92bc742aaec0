"""A machine that loses power keeps what was synced: acknowledged writes are among it."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.fault import disks
from tests.fault.replay import replayed

from keyfold_engine.engine import Engine
from keyfold_engine.engine.storage import checksums

SECTOR = 512
LOSSES = int(os.environ.get("POWER_LOSSES", "6"))

TABLE = {
    "TableName": "Powered",
    "BillingMode": "PAY_PER_REQUEST",
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [
        {"AttributeName": "pk", "AttributeType": "S"},
        {"AttributeName": "g", "AttributeType": "S"},
    ],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "by_group",
            "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "ALL"},
        }
    ],
    "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
}


class Disk(apsw.VFS):
    """A disk that knows, for each file, which bytes a sync has made safe and which are in doubt."""

    def __init__(self, real: str) -> None:
        self.safe: dict[str, bytes] = {}
        self.doubtful: dict[str, list[tuple[int, bytes]]] = {}
        self.real = real
        super().__init__("unsafe disk", real, makedefault=True)

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        return DiskFile(self, path, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:
        super().xDelete(filename, syncdir)
        self.safe.pop(filename, None)
        self.doubtful.pop(filename, None)

    def after_power_loss(self, chance: random.Random) -> dict[str, bytes]:
        """What may be found on the disk: all that was synced, and any of the other writes."""
        files = {}
        for path in self.safe.keys() | self.doubtful.keys():
            content = bytearray(self.safe.get(path, b""))
            for offset, data in self.doubtful.get(path, ()):
                if chance.random() < 0.5:
                    if chance.random() < 0.2:
                        # The power went in the middle of it.
                        data = data[: chance.randrange(0, len(data) + 1, SECTOR)]
                    content.extend(bytes(max(0, offset + len(data) - len(content))))
                    content[offset : offset + len(data)] = data
            files[Path(path).name] = bytes(content)
        return files


class DiskFile(apsw.VFSFile):
    def __init__(self, disk: Disk, path: str | None, name: Any, flags: list[int]) -> None:
        super().__init__(disk.real, name, flags)
        self._disk, self._path = disk, path

    def xWrite(self, data: bytes, offset: int) -> None:
        super().xWrite(data, offset)
        if self._path is not None:
            self._disk.doubtful.setdefault(self._path, []).append((offset, bytes(data)))

    def xTruncate(self, newsize: int) -> None:
        super().xTruncate(newsize)
        if self._path is not None:
            self._disk.safe[self._path] = Path(self._path).read_bytes()
            self._disk.doubtful.pop(self._path, None)

    def xSync(self, flags: int) -> None:
        super().xSync(flags)
        if self._path is not None:
            self._disk.safe[self._path] = Path(self._path).read_bytes()
            self._disk.doubtful.pop(self._path, None)


@pytest.fixture
def disk() -> Iterator[Disk]:
    with disks.beneath(Disk) as disk:
        yield disk


@pytest.mark.parametrize("seed", range(LOSSES))
def test_power_loss_keeps_every_acknowledged_write(disk: Disk, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    state = _write(tmp_path / "data.db", chance.randint(1, 120), chance, durability="full")
    items, entries, records = _found(disk.after_power_loss(chance), tmp_path / "after")
    assert items == state
    assert entries == state
    assert records == state


@pytest.mark.parametrize("seed", range(LOSSES))
def test_power_loss_in_relaxed_mode_keeps_items_indexes_and_streams_in_step(
    disk: Disk, tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    _write(tmp_path / "data.db", chance.randint(1, 120), chance, durability="relaxed")
    items, entries, records = _found(disk.after_power_loss(chance), tmp_path / "after")
    assert entries == items
    assert records == items


def _write(path: Path, count: int, chance: random.Random, *, durability: Any) -> dict[str, Any]:
    """Items written through an engine that is never closed, as if the power went."""
    engine = Engine.open(path, durability="full")
    engine.call("CreateTable", TABLE)
    engine.close()
    engine = Engine.open(path, durability=durability)
    state: dict[str, Any] = {}
    for number in range(count):
        key = str(chance.randrange(15))
        item = {"pk": {"S": key}, "g": {"S": str(chance.randrange(3))}, "n": {"N": str(number)}}
        item["data"] = {"S": "d" * chance.randrange(3000)}
        engine.call("PutItem", {"TableName": "Powered", "Item": item})
        state[key] = item
    _unplugged.append(engine)
    return state


# Engines whose power went are not closed before the test has looked: closing would sync.
_unplugged: list[Engine] = []


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    while _unplugged:
        _unplugged.pop().close()


def _found(files: dict[str, bytes], directory: Path) -> list[dict[str, Any]]:
    """The items; the same from the index; the same from the stream."""
    directory.mkdir()
    for name, content in files.items():
        if not name.endswith("-shm"):
            (directory / name).write_bytes(content)
    with Engine.open(directory / "data.db") as engine:
        items = engine.call("Scan", {"TableName": "Powered"})["Items"]
        entries = engine.call("Scan", {"TableName": "Powered", "IndexName": "by_group"})["Items"]
        records = replayed(engine)
    layer = checksums.layer()
    assert apsw.Connection(str(directory / "data.db"), vfs=layer).pragma("integrity_check") == "ok"
    return [*({item["pk"]["S"]: item for item in each} for each in (items, entries)), records]
