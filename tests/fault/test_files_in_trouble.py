"""What others do to a data file, and what a disk refuses: noticed, told, and life after it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import apsw
import pytest
from tests.fault import disks

from keyfold.errors import Busy, Corrupt, Full, StorageError
from keyfold_engine.clients import ClientOptions, connect
from keyfold_engine.clients.retry import RetryPolicy
from keyfold_engine.engine import Engine
from keyfold_engine.wire import BackgroundServer

TABLE = {
    "TableName": "Stored",
    "BillingMode": "PAY_PER_REQUEST",
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
}


def _put(engine: Any, key: str, size: int = 10) -> None:
    item = {"pk": {"S": key}, "data": {"S": "d" * size}}
    engine.call("PutItem", {"TableName": "Stored", "Item": item})


def _get(engine: Any, key: str) -> Any:
    return engine.call("GetItem", {"TableName": "Stored", "Key": {"pk": {"S": key}}}).get("Item")


def _keys(engine: Any) -> set[str]:
    return {item["pk"]["S"] for item in engine.call("Scan", {"TableName": "Stored"})["Items"]}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "data.db"
    with Engine.open(path, durability="relaxed") as engine:
        engine.call("CreateTable", TABLE)
        for number in range(300):
            _put(engine, f"key{number}", 900)
    return path


# What others do to the file


def test_a_file_cut_short_under_a_server_is_told_and_the_server_lives(path: Path) -> None:
    with Engine.open(path) as engine, BackgroundServer(engine) as server:
        client = connect(server.url, ClientOptions(retries=RetryPolicy(attempts=1)))
        assert _get(client, "key1")
        os.truncate(path, path.stat().st_size // 2)
        with pytest.raises(Corrupt):
            _keys(client)
        with pytest.raises(Corrupt):
            _put(client, "later")
        client.close()
        assert urlopen(f"{server.url}/healthz").read() == b"ok\n"


def _delete(path: Path) -> None:
    path.unlink()


def _replace(path: Path) -> None:
    content = path.read_bytes()
    path.unlink()
    path.write_bytes(content)


@pytest.mark.parametrize("harm", [_delete, _replace])
def test_a_write_to_a_file_that_was_taken_away_is_not_acknowledged(
    path: Path, harm: Callable[[Path], None]
) -> None:
    with Engine.open(path) as engine:
        _put(engine, "before")
        harm(path)
        with pytest.raises(StorageError, match="would be lost"):
            _put(engine, "after")
        with pytest.raises(StorageError, match="would be lost"):
            engine.call("TransactWriteItems", {"TransactItems": [_part("both")]})


def _part(key: str) -> dict[str, Any]:
    return {"Put": {"TableName": "Stored", "Item": {"pk": {"S": key}}}}


def test_a_file_that_was_emptied_on_purpose_is_not_taken_for_cut_short(path: Path) -> None:
    with Engine.open(path) as engine:
        size = path.stat().st_size
        engine.call("DeleteTable", {"TableName": "Stored"})
        engine.sweep()
        engine._database.commits._writer.connection.wal_checkpoint(
            mode=apsw.SQLITE_CHECKPOINT_TRUNCATE
        )
        assert path.stat().st_size < size
        engine.call("CreateTable", TABLE)
        _put(engine, "again")
        assert _keys(engine) == {"again"}


def test_another_process_that_closes_the_file_does_not_take_its_log_away(path: Path) -> None:
    with Engine.open(path) as engine:
        _put(engine, "before")
        # Another connection of this process: it looks at the file before it opens it.
        with engine.snapshot("Stored") as bodies:
            assert len(list(bodies)) == 301
        _run(_HEAD + "Engine.open(path).close()", path)
        _put(engine, "after")
        assert path.with_name("data.db-wal").exists()
        _run(_HEAD + "assert get(Engine.open(path), 'after')", path)


# What a disk refuses


class MoodyDisk(apsw.VFS):
    """A disk that fails as it is told."""

    def __init__(self, real: str) -> None:
        self.real = real
        self.refuses: dict[str, type[apsw.Error]] = {}
        super().__init__("moody disk", real, makedefault=True)

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:
        self.may("open")
        return MoodyFile(self, name, flags)

    def may(self, what: str) -> None:
        if (refusal := self.refuses.get(what)) is not None:
            raise refusal(f"the disk refuses to {what}")


class MoodyFile(apsw.VFSFile):
    def __init__(self, disk: MoodyDisk, name: Any, flags: list[int]) -> None:
        super().__init__(disk.real, name, flags)
        self._disk = disk

    def xRead(self, amount: int, offset: int) -> bytes:
        self._disk.may("read")
        return super().xRead(amount, offset)

    def xWrite(self, data: bytes, offset: int) -> None:
        self._disk.may("write")
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:
        self._disk.may("sync")
        super().xSync(flags)


@pytest.fixture
def disk(path: Path) -> Iterator[MoodyDisk]:
    del path
    with disks.beneath(MoodyDisk) as disk:
        yield disk


@pytest.mark.parametrize(
    ("what", "refusal", "told"),
    [
        ("write", apsw.FullError, Full),
        ("write", apsw.IOError, StorageError),
        ("sync", apsw.IOError, StorageError),
    ],
    ids=["full disk", "EIO at a write", "EIO at a sync"],
)
def test_after_a_disk_that_refused_a_write_everything_is_as_before_it(
    disk: MoodyDisk, path: Path, what: str, refusal: type[apsw.Error], told: type[Exception]
) -> None:
    with Engine.open(path) as engine:
        _put(engine, "before")
        disk.refuses = {what: refusal}
        with pytest.raises(told):
            _put(engine, "lost")
        assert _get(engine, "before")
        disk.refuses = {}
        assert _get(engine, "lost") is None
        _put(engine, "after")
    with Engine.open(path) as engine:
        assert _keys(engine) == {f"key{n}" for n in range(300)} | {"before", "after"}


def test_a_page_that_cannot_be_read_fails_its_reader_and_nobody_later(
    disk: MoodyDisk, path: Path
) -> None:
    with Engine.open(path) as engine:
        disk.refuses = {"read": apsw.IOError}
        with pytest.raises(StorageError):
            _keys(engine)
        disk.refuses = {}
        assert len(_keys(engine)) == 300


def test_a_client_is_told_that_the_disk_is_full_and_the_log_once(
    disk: MoodyDisk, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Engine.open(path) as engine, BackgroundServer(engine) as server:
        client = connect(server.url, ClientOptions(retries=RetryPolicy(attempts=1)))
        disk.refuses = {"write": apsw.FullError}
        for number in range(20):
            with pytest.raises(Full, match="Nothing was written; try again when there is room"):
                _put(client, f"lost{number}")
        disk.refuses = {}
        _put(client, "after")
        client.close()
    told = [record for record in caplog.records if record.name == "keyfold_engine.wire.log"]
    assert len(told) == 1
    assert "disk is full" in told[0].getMessage()
    assert told[0].exc_info is None


def test_a_client_of_others_is_told_too_and_does_not_repeat_what_is_in_vain(
    disk: MoodyDisk, path: Path
) -> None:
    import boto3
    import botocore.exceptions

    with Engine.open(path) as engine, BackgroundServer(engine) as server:
        client = boto3.client(
            "dynamodb",
            endpoint_url=server.url,
            region_name="us-east-1",
            aws_access_key_id="a",
            aws_secret_access_key="b",
        )
        disk.refuses = {"write": apsw.FullError}
        with pytest.raises(botocore.exceptions.ClientError) as caught:
            client.put_item(TableName="Stored", Item={"pk": {"S": "lost"}})
        assert caught.value.response["Error"]["Code"] == "FullStorageException"
        assert caught.value.response["ResponseMetadata"]["RetryAttempts"] == 0


def test_a_client_is_told_that_the_file_is_busy(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("keyfold_engine.engine.storage.file.BUSY_SECONDS", 0.01)
    from keyfold_engine.engine.storage import checksums

    holder = apsw.Connection(str(path), vfs=checksums.layer())
    with Engine.open(path) as engine, BackgroundServer(engine) as server:
        client = connect(server.url, ClientOptions(retries=RetryPolicy(attempts=1)))
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(Busy, match="try again"):
            _put(client, "waits")
        assert _get(client, "key1")
        holder.execute("ROLLBACK")
        _put(client, "waits")
        client.close()
    holder.close()


# Limits of the system, each in a process of its own


def _run(program: str, path: Path) -> str:
    ran = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


_HEAD = """
import os, resource, sys
from keyfold_engine.engine import Engine
from keyfold.errors import StorageError
path = sys.argv[1]
def put(engine, key):
    engine.call("PutItem", {"TableName": "Stored", "Item": {"pk": {"S": key}}})
def get(engine, key):
    return "Item" in engine.call("GetItem", {"TableName": "Stored", "Key": {"pk": {"S": key}}})
"""


def test_a_read_only_directory_is_named(path: Path) -> None:
    program = """
Engine.open(path).close()
os.chmod(path, 0o444)
os.chmod(os.path.dirname(path), 0o555)
if os.geteuid() == 0:
    for folder in (os.path.dirname(path), os.path.dirname(os.path.dirname(path))):
        os.chmod(os.path.dirname(folder), 0o755)
    os.chmod(os.path.dirname(os.path.dirname(path)), 0o755)
    os.setuid(65534)
try:
    Engine.open(path)
except StorageError as error:
    print(error)
"""
    told = _run(_HEAD + program, path)
    assert "read-only" in told or "cannot be opened" in told
    assert str(path) in told
    path.parent.chmod(0o755)
    path.chmod(0o644)
    with Engine.open(path) as engine:
        assert _get(engine, "key1")


def test_no_more_file_handles_fails_a_call_and_not_those_after_it(path: Path) -> None:
    program = """
engine = Engine.open(path)
put(engine, "with handles")
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
taken = []
try:
    while True:
        taken.append(os.open("/dev/null", os.O_RDONLY))
except OSError:
    pass
try:
    with engine.snapshot("Stored") as bodies:
        print("read", len(list(bodies)))
except StorageError as error:
    print("refused", error)
put(engine, "without handles")
for handle in taken:
    os.close(handle)
with engine.snapshot("Stored") as bodies:
    print("then", len(list(bodies)))
"""
    told = _run(_HEAD + program, path)
    assert "refused" in told
    assert "then 302" in told


def test_an_engine_opened_before_a_fork_says_so_in_the_child(path: Path) -> None:
    program = """
engine = Engine.open(path)
put(engine, "parent")
child = os.fork()
if not child:
    try:
        put(engine, "child")
    except StorageError as error:
        print(error, flush=True)
    try:
        get(engine, "parent")
    except StorageError as error:
        print(error, flush=True)
    with Engine.open(path) as own:
        put(own, "own")
    os._exit(0)
os.waitpid(child, 0)
assert get(engine, "own") and not get(engine, "child")
put(engine, "parent again")
engine.close()
"""
    told = _run(_HEAD + program, path)
    assert told.count("open it after the fork") == 2
    with Engine.open(path) as engine:
        assert _get(engine, "parent again")


# Copies of a file in use


def test_a_backup_of_a_file_in_use_is_one_moment_of_it(path: Path, tmp_path: Path) -> None:
    from tests.unit.engine.test_checksums import _wrong_pages

    from keyfold_engine.engine.storage.online_backup import back_up_file

    stop = threading.Event()
    seen: list[tuple[int, int]] = []
    with Engine.open(path, durability="relaxed") as engine:

        def write() -> None:
            number = 0
            while not stop.is_set():
                number += 1
                parts = [
                    {"Put": {"TableName": "Stored", "Item": _counted(side, number)}}
                    for side in ("left", "right")
                ]
                engine.call("TransactWriteItems", {"TransactItems": parts})

        writer = threading.Thread(target=write)
        writer.start()
        for round in range(8):
            copy = tmp_path / f"copy{round}.db"
            back_up_file(path, copy, lambda done, all: seen.append((done, all)))
            assert not _wrong_pages(copy)
            with Engine.open(copy) as copied:
                found = [_get(copied, side) for side in ("left", "right")]
                assert len({item["n"]["N"] for item in found if item}) <= 1
                assert len(_keys(copied) - {"left", "right"}) == 300
        stop.set()
        writer.join()
    assert seen[-1][0] == seen[-1][1] > 0


def _counted(key: str, number: int) -> dict[str, Any]:
    return {"pk": {"S": key}, "n": {"N": str(number)}, "data": {"S": "d" * 3000}}


def test_a_damaged_file_is_not_copied_as_if_it_were_whole(path: Path, tmp_path: Path) -> None:
    from keyfold_engine.engine.storage.online_backup import back_up_file

    content = bytearray(path.read_bytes())
    content[-3000] ^= 1
    path.write_bytes(content)
    with pytest.raises(Corrupt):
        back_up_file(path, tmp_path / "copy.db", lambda _done, _all: None)
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith("copy")] == []


def test_a_snapshot_of_a_table_has_the_total_of_one_moment(path: Path) -> None:
    import orjson

    accounts = 60
    with Engine.open(path, durability="relaxed") as engine, Engine.open(path) as other:
        for number in range(accounts):
            engine.call("PutItem", {"TableName": "Stored", "Item": _account(number, 100)})
        stop = threading.Event()

        def transfer() -> None:
            turn = 0
            while not stop.is_set():
                turn += 1
                amounts = {turn % accounts: "-1", (turn * 7 + 1) % accounts: "1"}
                if len(amounts) == 2:
                    parts = [{"Update": _moved(n, amount)} for n, amount in amounts.items()]
                    engine.call("TransactWriteItems", {"TransactItems": parts})

        writer = threading.Thread(target=transfer)
        writer.start()
        for _ in range(10):
            with other.snapshot("Stored") as bodies:
                items = [orjson.loads(body) for body in bodies]
            assert sum(int(item["n"]["N"]) for item in items if "n" in item) == accounts * 100
        stop.set()
        writer.join()


def _account(number: int, amount: int) -> dict[str, Any]:
    return {"pk": {"S": f"account{number}"}, "n": {"N": str(amount)}}


def _moved(number: int, amount: str) -> dict[str, Any]:
    return {
        "TableName": "Stored",
        "Key": {"pk": {"S": f"account{number}"}},
        "UpdateExpression": "ADD n :n",
        "ExpressionAttributeValues": {":n": {"N": amount}},
    }
