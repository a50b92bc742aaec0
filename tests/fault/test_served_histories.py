"""Registers and lists under workers, a second process and kills: what clients see is one order."""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable
from math import inf
from pathlib import Path
from typing import Any

import pytest
from tests.fault.history import Access, Transaction, check_lists, check_register
from tests.unit.wire.test_serve_command import children, serving

from keyfold.errors import (
    Busy,
    ConditionFailed,
    InternalFailure,
    OperationError,
    StorageError,
    TransportError,
)
from keyfold_engine.clients import Client, ClientOptions, connect
from keyfold_engine.clients.retry import RetryPolicy

HISTORIES = int(os.environ.get("HISTORIES", "2"))
SECONDS = 3.0
CLIENTS = 6
TABLE = {
    "TableName": "Seen",
    "BillingMode": "PAY_PER_REQUEST",
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
}
_UNKNOWN = (TransportError, InternalFailure)
"""Whether it was done is not known."""


class Clients:
    """Clients that call at random and write down what they saw."""

    def __init__(self, url: str, path: Path, seed: int) -> None:
        self._addresses = [url] * (CLIENTS - 1) + [str(path)]
        self._seed = seed
        self._next = iter(range(1, 10**9)).__next__
        self.lists: list[Transaction] = []
        self.registers: dict[str, list[Access]] = {}
        self.problems: list[BaseException] = []
        self.until = 0.0

    def run(self, harm: Callable[[], None]) -> None:
        self.until = time.monotonic() + SECONDS
        threads = [
            threading.Thread(target=self._client, args=(number,)) for number in range(CLIENTS)
        ]
        for thread in threads:
            thread.start()
        while time.monotonic() < self.until:
            harm()
        for thread in threads:
            thread.join()

    def _client(self, number: int) -> None:
        chance = random.Random(self._seed * 100 + number)
        options = ClientOptions(retries=RetryPolicy(attempts=1))
        try:
            client = connect(self._addresses[number], options)
            while time.monotonic() < self.until:
                chance.choice((self._append, self._read, self._register, self._register))(
                    client, chance
                )
            client.close()
        except BaseException as problem:
            self.problems.append(problem)

    def _append(self, client: Client, chance: random.Random) -> None:
        keys = chance.sample("abc", chance.randint(1, 3))
        appends = tuple((key, self._next()) for key in keys)
        parts = [{"Update": _appending(f"list {key}", value)} for key, value in appends]
        start = time.monotonic()
        outcome = _try(client, "TransactWriteItems", {"TransactItems": parts})
        if outcome == "unknown":
            self.lists.append(Transaction(start, inf, appends=appends))
        else:
            failed = outcome == "failed"
            self.lists.append(Transaction(start, time.monotonic(), appends=appends, failed=failed))

    def _read(self, client: Client, chance: random.Random) -> None:
        keys = chance.sample("abc", chance.randint(1, 3))
        parts = [{"Get": {"TableName": "Seen", "Key": _key(f"list {key}")}} for key in keys]
        start = time.monotonic()
        answer = _try(client, "TransactGetItems", {"TransactItems": parts})
        if isinstance(answer, dict):
            found = [
                tuple(int(v["N"]) for v in each.get("Item", {}).get("l", {}).get("L", ()))
                for each in answer["Responses"]
            ]
            reads = tuple(zip(keys, found, strict=True))
            self.lists.append(Transaction(start, time.monotonic(), reads=reads))

    def _register(self, client: Client, chance: random.Random) -> None:
        # Few calls a register: whoever checks keeps all that is possible.
        key = f"register {int(time.monotonic() * 5) % 1000} {chance.randrange(3)}"
        seen = self.registers.setdefault(key, [])
        kind, value = chance.choice(("read", "write", "cas")), self._next()
        start = time.monotonic()
        if kind == "read":
            request = {"TableName": "Seen", "Key": _key(key), "ConsistentRead": True}
            answer = _try(client, "GetItem", request)
            if isinstance(answer, dict):
                number = answer.get("Item", {}).get("v", {}).get("N")
                read = None if number is None else int(number)
                seen.append(Access(start, time.monotonic(), "read", read))
            return
        request = {"TableName": "Seen", "Item": {**_key(key), "v": {"N": str(value)}}}
        known = [one.value for one in seen if one.value is not None]
        expects = chance.choice(known) if known and kind == "cas" else None
        if expects is not None:
            request["ConditionExpression"] = "v = :v"
            request["ExpressionAttributeValues"] = {":v": {"N": str(expects)}}
        kind = "write" if expects is None else "cas"
        outcome = _try(client, "PutItem", request)
        end = inf if outcome == "unknown" else time.monotonic()
        done = {"unknown": None, "refused": False}.get(str(outcome), True)
        if outcome != "failed":
            seen.append(Access(start, end, kind, value, expects, done))


def _try(client: Client, operation: str, request: dict[str, Any]) -> Any:
    try:
        return client.call(operation, request)
    except ConditionFailed:
        return "refused"
    except _UNKNOWN as error:
        sent = not isinstance(error, TransportError) or error.sent
        return "unknown" if sent else "failed"
    except (OperationError, Busy):
        return "failed"
    except StorageError:
        return "unknown"


def _key(key: str) -> dict[str, Any]:
    return {"pk": {"S": key}}


def _appending(key: str, value: int) -> dict[str, Any]:
    return {
        "TableName": "Seen",
        "Key": _key(key),
        "UpdateExpression": "SET l = list_append(if_not_exists(l, :none), :value)",
        "ExpressionAttributeValues": {":none": {"L": []}, ":value": {"L": [{"N": str(value)}]}},
    }


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="finds workers through /proc")
@pytest.mark.parametrize("seed", range(HISTORIES))
def test_workers_a_second_process_and_kills_show_one_order(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "seen.db"
    chance = random.Random(seed)
    with serving("--data", str(path), "--workers", "3") as (process, url):
        connect(url).call("CreateTable", TABLE)
        clients = Clients(url, path, seed)

        def harm() -> None:
            time.sleep(chance.uniform(0.2, 0.8))
            if workers := children(process.pid):
                os.kill(chance.choice(workers), signal.SIGKILL)

        clients.run(harm)
    assert clients.problems == []
    check_lists(clients.lists)
    for history in clients.registers.values():
        check_register(history)
    done = sum(1 for one in clients.lists if one.end < inf and not one.failed)
    calls = sum(len(history) for history in clients.registers.values())
    print(f"{done} transactions on lists, {calls} calls on {len(clients.registers)} registers")
    assert done > 50
    assert calls > 50
