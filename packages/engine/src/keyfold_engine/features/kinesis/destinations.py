"""Kinesis destinations: a table's changes, delivered to a stream on this machine.

A change is stored in the transaction of its write and delivered afterwards, at least once and in
order: into a directory, one file of JSON lines per stream, or to a server on this machine, as
Kinesis PutRecords requests.
"""

from __future__ import annotations

import threading
from base64 import b64encode
from collections.abc import Callable, Iterable
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import NAMESPACE_URL, uuid4, uuid5

import orjson

from keyfold_engine.addresses import is_loopback
from keyfold_engine.engine import streams
from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.tables import TableDefinition

if TYPE_CHECKING:
    from keyfold_engine.engine.database import Database
    from keyfold_engine.engine.write import Prepared

_KIND = "delivery"
_LEASE = "delivering"
_LEASE_SECONDS = 30.0
_PER_DELIVERY = 100
_WAIT_SECONDS = 1.0
_SEND_SECONDS = 10.0
_MICROSECOND = "MICROSECOND"

_numbers = count()

# A stream and what is delivered to it: partition key and record.
Records = list[tuple[str, bytes]]


def check_target(target: str) -> None:
    """Refuse a server that is not on this machine."""
    from urllib.parse import urlsplit

    if "://" in target and not is_loopback(urlsplit(target).hostname or ""):
        raise ValueError(f"kinesis is a directory or a server of this machine: {target!r}")


def destinations_of(table: TableDefinition) -> list[dict[str, Any]]:
    """The destinations that a table has or had."""
    found: list[dict[str, Any]] = table.definition.get("Destinations", [])
    return found


def live(database: Database, table: TableDefinition) -> dict[str, Any] | None:
    """The active destination."""
    for entry in destinations_of(table):
        if entry["Status"] == "ACTIVE":
            waits = database.delays.phase("enabling destination", entry["Since"])
            return entry if waits is None else None
    return None


def keep(database: Database, session: Session, prepared: Prepared, _row: int) -> None:
    """Store a change until it is delivered."""
    table = prepared.write.table
    entry = live(database, table)
    if entry is None:
        return
    body = orjson.dumps(_record(database, entry, prepared, database.moments.of(session)))
    [key] = prepared.item[table.schema.partition[0]].values()
    kept = {"Stream": entry["StreamArn"], "Key": key, "Data": body.decode()}
    order = f"{int(database.clock.now() * 1e6):020d}-{next(_numbers):012d}"
    session.keep_document(_KIND, order, kept)


def _record(
    database: Database, entry: dict[str, Any], prepared: Prepared, at: float
) -> dict[str, Any]:
    table, new = prepared.write.table, prepared.new
    image = None if new is None else (new.size, new.body)
    told = streams.change(table, prepared.item, prepared.stored, image)
    precise = entry.get("Precision") == _MICROSECOND
    told["dynamodb"]["ApproximateCreationDateTime"] = int(at * (1e6 if precise else 1e3))
    if precise:
        told["dynamodb"]["ApproximateCreationDateTimePrecision"] = _MICROSECOND
    return {
        "awsRegion": database.region,
        "eventID": str(uuid4()),
        **told,
        "userIdentity": prepared.write.identity,
        "recordFormat": "application/json",
        "tableName": table.name,
        "eventSource": "aws:dynamodb",
    }


class Deliveries:
    """Delivers stored changes in its own thread until stopped."""

    def __init__(self, database: Database, target: str) -> None:
        self._database, self._target = database, target
        self._owner = str(uuid4())
        self._delivering = threading.Lock()
        self._news, self._stopping = threading.Event(), threading.Event()
        self._unlisten: Callable[[], None] = database.commits.on_commit(self._news.set)
        self._thread = threading.Thread(target=self._run, name="keyfold-kinesis", daemon=True)
        self._thread.start()
        database.parts[Deliveries] = self
        database.closing.append(self.stop)

    def stop(self) -> None:
        self._unlisten()
        self._stopping.set()
        self._news.set()
        self._thread.join()

    def deliver(self) -> int:
        """Deliver what is stored; returns the number of records."""
        with self._delivering:
            return self._delivered()

    def _delivered(self) -> int:
        total = 0
        while batch := self._database.write(self._claim):
            streams: dict[str, Records] = {}
            for _order, record in batch:
                entry = (str(record["Key"]), record["Data"].encode())
                streams.setdefault(record["Stream"], []).append(entry)
            for arn, records in streams.items():
                self._send(arn, records)
            self._database.write(partial(_drop, [order for order, _ in batch]))
            total += len(batch)
        return total

    def _claim(self, session: Session) -> list[tuple[str, Any]]:
        """What this process may deliver next: one process at a time, to keep the order."""
        kept = session.documents(_KIND, _PER_DELIVERY)
        if not kept:
            return []
        now = self._database.clock.now()
        lease = session.document(_LEASE, "") or {}
        if lease.get("Owner") not in (None, self._owner) and lease["Until"] > now:
            return []
        mine = {"Owner": self._owner, "Until": now + _LEASE_SECONDS}
        session.keep_document(_LEASE, "", mine)
        return kept

    def _send(self, arn: str, records: Records) -> None:
        if "://" not in self._target:
            directory = Path(self._target)
            directory.mkdir(parents=True, exist_ok=True)
            with (directory / f"{arn.rpartition('/')[2]}.jsonl").open("ab") as file:
                file.writelines(data + b"\n" for _key, data in records)
            return
        body = {
            "StreamARN": arn,
            "StreamName": arn.rpartition("/")[2],
            "Records": [
                {"Data": b64encode(data).decode(), "PartitionKey": key} for key, data in records
            ],
        }
        headers = {
            "Content-Type": "application/x-amz-json-1.1",
            "X-Amz-Target": "Kinesis_20131202.PutRecords",
            "X-Amzn-RequestId": str(uuid5(NAMESPACE_URL, arn)),
        }
        # Imported only for delivery to a server.
        from http.client import HTTPException
        from urllib.request import Request, urlopen

        request = Request(self._target, orjson.dumps(body), headers, method="POST")
        try:
            with urlopen(request, timeout=_SEND_SECONDS) as answer:
                answer.read()
        except HTTPException as error:
            # An interrupted answer also means that the stream is unavailable.
            raise OSError(str(error)) from error

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._news.wait(_WAIT_SECONDS)
            self._news.clear()
            try:
                self.deliver()
            except OSError:
                # The stream is unavailable: records wait.
                self._stopping.wait(_WAIT_SECONDS)


def _drop(orders: Iterable[str], session: Session) -> None:
    for order in orders:
        session.drop_document(_KIND, order)
