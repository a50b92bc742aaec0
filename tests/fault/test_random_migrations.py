"""Random designs, random changes, kills, rollbacks and traffic; boto3 says what is there.

`MIGRATIONS=200` takes that many; `make fault` does.
"""

from __future__ import annotations

import os
import random
import re
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from keyfold.clients.embedded import EmbeddedClient
from keyfold.engine import Engine
from keyfold.errors import ConditionFailed, Pending, TableNotFound
from keyfold.migrations import Backend, Migrator, ScanPace, load
from keyfold.migrations.plan import draft
from tests.fault.migrated_world import Record, World, wire
from tests.unit.migrations.witness import contents, frozen_items, witness

MANY = int(os.environ.get("MIGRATIONS", "4"))


class Killed(Exception):
    """The process is gone."""


class Interrupted:
    """A client whose process dies, and beside which others work."""

    def __init__(self, client: EmbeddedClient, work: Callable[[], None]) -> None:
        self.client, self.work = client, work
        self.left = 1 << 60
        self.lock = threading.RLock()
        self.busy = False

    def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        with self.lock:
            self.left -= 1
            if self.left <= 0:
                raise Killed
            if not self.busy:
                self.busy = True
                try:
                    self.work()
                finally:
                    self.busy = False
        return self.client.call(operation, request)

    def close(self) -> None:
        self.client.close()


class Trial:
    def __init__(self, seed: int, folder: Path) -> None:
        self.chance = random.Random(seed)
        self.world = World(self.chance)
        self.engine = Engine.open(":memory:")
        self.client = EmbeddedClient(self.engine)
        self.designs = {side: self.declare(side) for side in ("old", "new")}
        self.designs["old"].open(self.client)
        made = draft("change", self.designs["old"].schema, self.designs["new"].schema)
        plan = made.save(folder)
        plan.write_text(decided(plan.read_text()))
        self.migration = load(plan)
        self.backend = Interrupted(self.client, self.work)
        self.app: Any = None
        self.writers: tuple[str, ...] = ("old",)
        self.done = 0
        self.mixed = False

    def declare(self, side: str) -> Any:
        namespace: dict[str, Any] = {"__name__": f"world_{side}"}
        text = self.world.source(side)
        exec(compile(text, f"{side}.py", "exec", dont_inherit=True), namespace)
        return namespace["design"]

    def migrator(self, **options: Any) -> Migrator:
        pace = ScanPace(segments=self.chance.choice([1, 2]), page=7)
        return Migrator(self.migration, Backend(self.backend), pace=pace, quiet=0.0, **options)

    # Applications.

    def work(self) -> None:
        if self.writers and self.chance.random() < 0.08:
            self.write(self.chance.choice(self.writers))

    def write(self, side: str) -> None:
        world, chance = self.world, self.chance
        records = list(world.records.values())
        dice = chance.random()
        if side == "old" and (dice < 0.2 or not records):
            record = world.new_record()
            world.records[record.id] = record
            self.put("Things", world.item(record, "old"))
        elif side == "old" and dice < 0.3:
            record = world.records.pop(chance.choice(records).id)
            self.client.call("DeleteItem", {"TableName": "Things", "Key": world.key(record, "old")})
        elif records:
            self.change(chance.choice(records), side)
        self.done += 1

    def put(self, table: str, item: dict[str, Any]) -> None:
        self.client.call("PutItem", {"TableName": table, "Item": item})

    def change(self, record: Record, side: str) -> None:
        names = ["color", "size", "extra"]
        # A renamed field has one writer at a time: new names do not reach old ones.
        if "split" not in self.world.changes and not (side == "new" and self.mixed):
            names.append("mail")
        name, value = self.chance.choice(names), wire(self.chance)
        request = {
            "TableName": self.world.table(side),
            "Key": self.world.key(record, side),
            "UpdateExpression": "SET #n = :v",
            "ConditionExpression": "attribute_exists(pk)",
            "ExpressionAttributeNames": {"#n": self.world.attribute(name, side)},
            "ExpressionAttributeValues": {":v": value},
        }
        if side == "old":
            self.client.call("UpdateItem", request)
        else:
            # What an old application has just written may be on its way.
            with suppress(Pending, TableNotFound, ConditionFailed):
                if self.state().closed:
                    key = {"TableName": request["TableName"], "Key": request["Key"]}
                    self.app.client.call("GetItem", key)
                    return
                self.app.client.call("UpdateItem", request)
                record.values[name] = value
            return
        record.values[name] = value

    def state(self) -> Any:
        return Migrator(self.migration, Backend(self.client)).store.load()

    # The migrator, and its deaths.

    def until_done(self, act: Callable[[Migrator], object], **options: Any) -> None:
        for _ in range(self.chance.randint(0, 3)):
            self.backend.left = self.chance.randint(1, 400)
            try:
                act(self.migrator(**options))
                break
            except Killed:
                continue
        self.backend.left = 1 << 60
        act(self.migrator(**options))

    def compare(self, boto: Any, side: str) -> None:
        there = {
            (table, item)
            for table, item in contents(boto)
            if not any(n == "pk" and str(v[1]).startswith("UNIQUE#") for n, v in item)
        }
        wanted = frozen_items(self.world.expected(side))
        assert there == wanted, f"{self.world}: {_told(there, wanted)}"

    def run(self) -> None:
        world = self.world
        for _ in range(self.chance.randint(3, 25)):
            record = world.new_record()
            world.records[record.id] = record
            self.put("Things", world.item(record, "old"))
        with witness(self.engine) as boto:
            self.compare(boto, "old")
            self.until_done(lambda m: m.apply("verify"))
            if self.chance.random() < 0.4:
                self.until_done(lambda m: m.rollback())
                self.compare(boto, "old")
                self.until_done(lambda m: m.apply("verify"))
            self.roll_out()
            self.until_done(lambda m: m.apply("hold"), without_routers=True)
            for _ in range(5):
                self.write("new")
            if self.chance.random() < 0.5:
                if world.place == "stay":
                    self.writers = ()  # the application of before is deployed first
                self.until_done(lambda m: m.rollback())
                self.writers = ()
                self.compare(boto, "old")
            else:
                self.until_done(lambda m: m.apply("contract"), without_routers=True)
                self.writers = ()
                self.compare(boto, "new")
        self.engine.close()

    def roll_out(self) -> None:
        """Old and new applications beside each other, while copying goes on."""
        self.app = self.designs["new"].open(self.client, migration=self.migration)
        self.writers = ()
        self.mixed = "rename" in self.world.changes
        follower = self.migrator()
        for _ in range(8):
            self.write("old")
            rounds = iter([False] * 4 + [True])
            follower.follow(lambda rounds=rounds: next(rounds))  # type: ignore[misc]
            self.write("new")
        follower.apply("verify")
        self.mixed = False
        self.writers = ("new",)


def decided(text: str) -> str:
    """Every question answered with the first answer that is offered."""
    lines, offered, given = [], "", set[str]()
    for line in text.splitlines():
        found = re.match(r" *#     (\w+\(.*),$", line)
        if found and not ("note" in found[1] and found[1].startswith("rename(")):
            offered = offered or found[1]
        if "undecided(" in line and not line.startswith(("@", "from")):
            line = "" if offered in given else f"        {offered},"
            given.add(offered)
            offered = ""
        lines.append(line)
    renamed = any(answer.startswith("rename(") for answer in given)
    kept = [line for line in lines if not (renamed and re.match(r' +derive\(.*"address"', line))]
    text = "\n".join(line for line in kept if not line.startswith("@undecided"))
    return text.replace("return None", 'return "first"')


def _told(there: set[Any], wanted: set[Any]) -> str:
    more = [f"unexpected {sorted(map(str, item))}" for _, item in list(there - wanted)[:2]]
    less = [f"missing {sorted(map(str, item))}" for _, item in list(wanted - there)[:2]]
    return "; ".join([*more, *less])


@pytest.mark.parametrize("seed", range(MANY))
def test_a_random_migration_loses_and_changes_nothing(seed: int, tmp_path: Path) -> None:
    Trial(seed, tmp_path).run()
