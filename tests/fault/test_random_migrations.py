"""Random designs, random changes, kills, rollbacks and traffic; boto3 says what is there.

Readers of both designs read all the while: each must see what is under its design's keys, once.

`MIGRATIONS=500` takes that many; `make fault` does.
"""

from __future__ import annotations

import base64
import os
import random
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from tests.deterministic.virtual_time import moved_into
from tests.fault.migrated_world import GROUPS, OPEN, SHUT, Item, Record, Sided, World, wire
from tests.unit.migrations.witness import boto_client, contents, frozen_items, witness

from keyfold.errors import (
    ConditionFailed,
    NotFound,
    Pending,
    TableNotFound,
    TransactionCanceled,
    Unavailable,
    Undecodable,
)
from keyfold.migrations import Backend, Migrator, ScanPace, load
from keyfold.migrations.plan import draft
from keyfold.streams import Consumer
from keyfold.testing.deterministic import World as Stage
from keyfold_engine.clients import Client, connect
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.engine import Engine

MANY = int(os.environ.get("MIGRATIONS", "20"))
FIRST = int(os.environ.get("FIRST_MIGRATION", "0"))
CASES = (
    53,
    93,
    163,
    198,
    2009,
    2037,
    2038,
    2042,
    2049,
    2050,
    2056,
    2077,
    2107,
    2124,
    10053,
    30092,
    40023,
)
"""Seeds that failed once."""
BUSY = 60
"""How often applications write before they rest: copying may be slower than they are."""
THERE: Item = {"ConditionExpression": "attribute_exists(pk)"}
LATE = (
    *(Pending, TableNotFound, NotFound, ConditionFailed, TransactionCanceled, Undecodable),
    Unavailable,
)
"""What the new application is told while an item is on its way, or lacks what is derived for it, or
the migration goes back; or nobody copies any more, and it asks whether an item is missing.
"""


class Killed(Exception):
    """The process is gone."""


class Interrupted:
    """A client whose process dies after some requests, while others work."""

    def __init__(self, client: Client, stage: Stage, latency: float) -> None:
        self.client, self.stage, self.latency = client, stage, latency
        self.left = 1 << 60

    def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        self.left -= 1
        if self.left <= 0:
            raise Killed
        self.wait()
        answer = self.client.call(operation, request)
        self.wait()
        return answer

    def wait(self) -> None:
        self.stage.sleep(self.stage.random.uniform(0.0, self.latency))

    def close(self) -> None:
        self.client.close()


class Trial:
    """One seed, on an engine of its own or, with an `address`, on somebody else's server."""

    def __init__(self, seed: int, folder: Path, address: str = "") -> None:
        self.chance = random.Random(seed)
        self.world = World(self.chance)
        self.stage = Stage(seed, most=200_000)
        shards = self.chance.choice([1, 3, 8])
        self.engine = Engine.open(":memory:", clock=self.stage, stream_shards=shards)
        self.client: Client = EmbeddedClient(self.engine)
        self.address = address
        if address:
            self.client = connect(address)
        self.designs = {side: self.declare(side) for side in ("old", "new")}
        self.designs["old"].open(self.client, clock=self.stage)
        made = draft("change", self.designs["old"].schema, self.designs["new"].schema)
        plan = made.save(folder)
        self.decide(plan)
        self.migration = load(plan)
        latency = self.chance.choice([0.002, 0.02, 0.1])
        self.backend = Interrupted(self.client, self.stage, latency)
        self.boto: Any = None
        self.app: Any = None
        self.writers: tuple[Sided, ...] = ()
        self.between_writes = latency * self.chance.choice([10, 30, 100])
        self.rest = 0
        self.consumed: Sided | None = None
        self.consuming = False
        self.writing = set[Sided]()
        self.held = set[tuple[str, str]]()
        """The records that were ever under a key."""
        self.returned = set[str]()
        """Records that got a former key again: their rank may be spelled as it was there."""
        self.over = False

    def declare(self, side: Sided) -> Any:
        module: Any = ModuleType(f"world_{side}")
        text = self.world.shapes[side].source(typed=self.world.typed)
        sys.modules[module.__name__] = module  # fields are looked up there
        exec(compile(text, f"{side}.py", "exec", dont_inherit=True), module.__dict__)
        return module.design

    def decide(self, plan: Path) -> None:
        """Answer every question with the first answer that is offered, and a note with drop."""
        given = yaml.safe_load(plan.read_text())
        moved: dict[str, Any] = {}
        if "rename" in self.world.changes:
            moved["rename"] = {"mail": "address"}
        if "drop" in self.world.changes:
            moved["drops"] = ["note"]
        steps: list[dict[str, Any]] = []
        for step in given["steps"]:
            chosen = step
            if "decide" in step:
                noted = [a for a in step["answers"] if a.get("rename") != "note"]
                chosen = {n: v for n, v in noted[0].items() if n != "drops"}
                if "move" in chosen:
                    chosen = {n: v for n, v in chosen.items() if n != "rename"}
            if chosen.get("move") == "Thing":
                chosen = {**chosen, **moved}
            if chosen not in steps:
                steps.append(chosen)
        if any(step.get("rename") == "mail" for step in steps):
            steps = [step for step in steps if step.get("derive") != "address"]
        plan.write_text(yaml.safe_dump({**given, "steps": steps}, sort_keys=False))
        functions = plan.with_suffix(".py")
        if functions.exists():
            lines = functions.read_text().replace("return None", 'return "first"').splitlines()
            kept = (line for line in lines if not line.startswith("@undecided"))
            functions.write_text("\n".join(kept) + "\n")

    def migrator(self, **options: Any) -> Migrator:
        # dynoxide ends a segment of a scan where the item that it stopped at is deleted.
        segments = 1 if self.address else self.chance.choice([1, 2])
        pace = ScanPace(segments=segments, page=7)
        backend = Backend(self.backend, clock=self.stage)
        return Migrator(self.migration, backend, pace=pace, quiet=0.0, **options)

    # Applications.

    def work(self, side: Sided) -> None:
        """What an application does all the time."""
        while not self.over:
            if side in self.writers and self.rest:
                self.rest -= 1
                self.writing.add(side)
                self.write(side)
                self.writing.remove(side)
            self.stage.sleep(self.chance.uniform(0, 2 * self.between_writes))

    def let_write(self, *sides: Sided) -> None:
        """From now on only these applications write, for a while."""
        self.writers = ()
        while self.writing:
            self.stage.sleep(0.01)
        self.writers, self.rest = sides, BUSY

    def may_write(self, side: Sided, record: Record) -> bool:
        """Of two applications at once, each has records of its own."""
        return len(self.writers) < 2 or record.number % 2 == (side == "new")

    def write(self, side: Sided) -> None:
        if side == "old":
            self.write_old()
        else:
            with suppress(*LATE):
                self.write_new()

    def drawn(self, side: Sided) -> tuple[Record | None, Record | None]:
        """A record before and after what somebody does to it."""
        world, chance = self.world, self.chance
        records = [one for one in world.records.values() if self.may_write(side, one)]
        dice = chance.random()
        if dice < 0.2 or not records:
            record = world.new_record()
            while not self.may_write(side, record):
                record = world.new_record()
            if side == "new":
                self.normalise(record)
            return None, record
        before = chance.choice(records)
        if dice < 0.3:
            return before, None
        after = deepcopy(before)
        if dice < 0.45:
            after.state = SHUT if before.state == OPEN else OPEN
        elif dice < 0.6:
            after.group = chance.choice(GROUPS)
        elif dice < 0.7:
            after.values["rank"] = {"S": chance.choice(["9", "-1", "0"])}
        else:
            name = chance.choice(["color", "size", "extra", "mail"])
            if name == "mail" and chance.random() < 0.3:
                after.values.pop("mail", None)
            else:
                after.values[name] = wire(chance)
        return before, after

    def normalise(self, record: Record) -> None:
        """As the new design writes it."""
        if not self.world.shapes["new"].note:
            record.values.pop("note", None)
        if self.world.shapes["new"].number and "rank" in record.values:
            record.values["rank"] = {"S": str(int(record.values["rank"]["S"]))}

    def write_old(self) -> None:
        before, after = self.drawn("old")
        whole = self.chance.random() < 0.2
        if after is not None and (whole or before is None or self.is_placed(before, after)):
            after.left = self.world.index_keys(after, "old")
        self.note(before, after)
        actions = self.actions("old", before, after, whole=whole)
        self.boto.transact_write_items(TransactItems=[_for_boto(action) for action in actions])

    def is_placed(self, before: Record, after: Record) -> bool:
        """Whether the old application writes the keys of its index: they, or the item's, change."""
        world = self.world
        return world.key(before, "old") != world.key(after, "old") or (
            world.index_keys(before, "old") != world.index_keys(after, "old")
        )

    def write_new(self) -> None:
        before, after = self.drawn("new")
        if before is not None and after is not None and before.group != after.group:
            self.regroup(before, after)
        elif self.chance.random() < 0.5 and self.is_typed(before, after):
            self.write_typed(before, after)
        else:
            actions = self.actions("new", before, after)
            self.app.client.call("TransactWriteItems", {"TransactItems": actions})
        self.note(before, after)

    def note(self, before: Record | None, after: Record | None) -> None:
        if before is not None:
            del self.world.records[before.id]
        if after is not None:
            self.world.records[after.id] = after
            self.held.add((after.id, str(self.world.key(after, "new"))))

    def actions(
        self, side: Sided, before: Record | None, after: Record | None, *, whole: bool = False
    ) -> list[Item]:
        """A transaction that makes one of the other, as an application without keyfold does it."""
        was, now = (self.items_of(record, side) for record in (before, after))
        actions: list[Item] = []
        for number, (address, item) in enumerate(now.items()):
            put: Item = {"TableName": address[0], "Item": item}
            if number:  # what follows from it, as it must be
                actions += [{"Put": put}] * (was.get(address) != item)
            elif address not in was:
                actions.append({"Put": {**put, "ConditionExpression": "attribute_not_exists(pk)"}})
            elif whole:
                actions.append({"Put": {**put, **THERE}})
            elif change := _difference(self.known(side, was[address], item), item):
                place = {"TableName": address[0], "Key": _key_of(item)}
                actions.append({"Update": {**place, **change, **THERE}})
        for number, (address, item) in enumerate(was.items()):
            if address not in now:
                delete = {"TableName": address[0], "Key": _key_of(item)}
                # An application deletes what it sees: an item may not have arrived yet.
                actions.append({"Delete": delete if number else {**delete, **THERE}})
        actions += self.counts(side, before, after)
        return actions or self.touch(side, after)

    def known(self, side: Sided, was: Item, now: Item) -> Item:
        """What an application takes for granted of an item: if it sets a key of its index, it sets
        both, since an application without that index may have made the item.
        """
        keys = {"groupKey", "sortKey"}
        same = all(was.get(name) == now.get(name) for name in keys)
        return (
            was
            if side == "new" or same
            else {n: w for n, w in was.items() if n not in keys & now.keys()}
        )

    def touch(self, side: Sided, record: Record | None) -> list[Item]:
        """A write that changes nothing."""
        assert record is not None
        key, table = self.world.key(record, side), self.world.shapes[side].table
        return [{"ConditionCheck": {"TableName": table, "Key": key, **THERE}}]

    def items_of(self, record: Record | None, side: Sided) -> dict[tuple[str, str], Item]:
        items = self.world.items(record, side) if record is not None else []
        return {(table, str(_key_of(item))): item for table, item in items}

    def counts(self, side: Sided, before: Record | None, after: Record | None) -> list[Item]:
        counted = self.world.shapes[side].counted
        if self.world.shapes[side].streamed:
            return []
        amounts = dict.fromkeys(GROUPS, 0)
        for record, amount in ((before, -1), (after, 1)):
            if record is not None and counted in ("", record.state):
                amounts[record.group] += amount
        return [
            {
                "Update": {
                    "TableName": "Owners",
                    "Key": {"pk": {"S": f"HEAD#{group}"}},
                    "UpdateExpression": "ADD things :n",
                    "ExpressionAttributeValues": {":n": {"N": str(amount)}},
                }
            }
            for group, amount in amounts.items()
            if amount and counted is not None
        ]

    def regroup(self, before: Record, after: Record) -> None:
        """The new application gives an item another key, and carries what it does not know."""
        world = self.world
        table = world.shapes["new"].table
        own = (table, str(world.key(after, "new")))
        request = {"TableName": table, "Key": world.key(before, "new"), "ConsistentRead": True}
        found = self.app.client.call("GetItem", request).get("Item")
        if found is None:
            raise NotFound("it is on its way")
        if world.key(before, "new") != world.key(after, "new"):
            self.normalise_moved(after)
            if (after.id, str(world.key(after, "new"))) in self.held:
                self.returned.add(after.id)
        made = world.thing(after, "new")
        known = {"pk", "sk", "id", "group", "state", "groupKey", "sortKey"} & found.keys()
        carried = {n: w for n, w in found.items() if n not in known}
        kept = {n: found[n] for n in after.left if n in found}
        item = {**carried, **kept, **{n: made[n] for n in made if n in known or n in made}}
        actions = self.actions("new", before, after)
        for action in actions:
            put = action.get("Put")
            if put is not None and (put["TableName"], str(_key_of(put["Item"]))) == own:
                put["Item"] = item
        self.app.client.call("TransactWriteItems", {"TransactItems": actions})

    def normalise_moved(self, record: Record) -> None:
        """Under a new key in the same table nothing says how its rank was spelled."""
        if self.world.shapes["new"].number and "rank" in record.values:
            record.values["rank"] = {"S": str(int(record.values["rank"]["S"]))}
        if self.world.place != "stay" and "drop" in self.world.changes:
            record.values.pop("note", None)

    def is_typed(self, before: Record | None, after: Record | None) -> bool:
        """Whether the new design's own classes can say it."""
        return before is None or after is None or before.values.keys() == after.values.keys()

    def write_typed(self, before: Record | None, after: Record | None) -> None:
        thing: Any = self.designs["new"].entities[self.world.shapes["new"].name]
        names = {"id": (after or before).id, "group": (after or before).group}  # type: ignore[union-attr]
        templates = " ".join(self.world.shapes["new"].templates)
        keyed = {name: text for name, text in names.items() if f"{{{name}}}" in templates}
        if after is None:
            self.app.delete(self.app.get(thing.key(**keyed)))
            return
        if before is None:
            after.values = {"color": {"S": "typed"}, "size": {"N": "3"}, "rank": {"S": "4"}}
            level = {"level": "first"} if self.world.shapes["new"].level else {}
            rank = 4 if self.world.shapes["new"].number else "4"
            made = thing(**names, state=after.state, color="typed", size=3, rank=rank, **level)
            self.app.create(made)
            return
        changes: dict[str, Any] = {}
        if before.state != after.state:
            changes["state"] = after.state
        else:
            changes["color"], after.values = "typed", before.values | {"color": {"S": "typed"}}
        self.app.update(thing.key(**keyed), **changes)

    # Consumers: the old design's until the switch, then the new one's; they come and go.

    def consume(self) -> None:
        while not self.over:
            side = self.consumed
            if side is not None and self.chance.random() < 0.5:
                self.consuming = True
                self.run_consumer(side)
                self.consuming = False
            self.stage.sleep(self.chance.uniform(0, 60 * self.backend.latency))

    def run_consumer(self, side: Sided) -> None:
        followed = {"migration": self.migration} if side == "new" else {}
        db = self.designs[side].open(self.client, clock=self.stage, create_tables=False, **followed)
        with suppress(*LATE):
            Consumer(db).drain()

    def let_consume(self, side: Sided | None) -> None:
        """From now on only this design's consumer runs, now and then."""
        self.consumed = None
        while self.consuming:
            self.stage.sleep(0.01)
        self.consumed = side if self.world.shapes["new"].streamed else None

    # Readers of both designs.

    def read_all_the_while(self) -> None:
        """What every reader sees, at random moments of every phase."""
        while not self.over:
            for side in ("old", "new"):
                with suppress(TableNotFound):
                    self.read(side)
            self.stage.sleep(self.chance.uniform(0, 40 * self.backend.latency))

    def read(self, side: Sided) -> None:
        """One reader of each kind, compared with the raw items under its design's keys.

        The client has no latency, so nobody writes between the reads.
        """
        shape, design = self.world.shapes[side], self.designs[side]
        own = self.raw_things(side)
        db = design.open(self.client, clock=self.stage, create_tables=False)
        thing: Any = design.entities[shape.name]
        with suppress(Undecodable):  # Values of a new type, for the old application.
            seen = sorted(one.id for one in db.scan(thing))
            assert seen == sorted(one for one, _ in own), f"{side} of {self.world}"
        if shape.index is None or not self.has_index(shape.table):
            return
        for group in GROUPS:
            keyed = {"S": f"GROUP#{group}"}
            wanted = sorted(one for one, item in own if item.get("groupKey") == keyed)
            query = thing.by_group.query(group=group)
            with suppress(Undecodable):
                assert sorted(one.id for one in db.iterate(query)) == wanted
                paged = [one.id for page in db.pages(query, limit=3) for one in page]
                assert sorted(paged) == wanted
            assert db.read(query.count()) == len(wanted)

    def raw_things(self, side: Sided) -> list[tuple[str, Item]]:
        """The things under the keys of a design, with their ids: by strings alone."""
        shape, found = self.world.shapes[side], list[tuple[str, Item]]()
        for item in self.client.call("Scan", {"TableName": shape.table})["Items"]:
            if "id" in item and "group" in item:
                record = Record(item["id"]["S"], item["group"]["S"], "")
                if _key_of(item) == self.world.key(record, side):
                    found.append((record.id, item))
        return found

    def has_index(self, table: str) -> bool:
        described = self.client.call("DescribeTable", {"TableName": table})["Table"]
        return bool(described.get("GlobalSecondaryIndexes"))

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

    def compare(self, side: Sided) -> None:
        if self.world.shapes["new"].streamed:
            self.run_consumer(side)
        there = contents(self.boto, *(t for t in self.tables() if t != "keyfold_streams"))
        if side == "new" and not self.world.typed and "pointer removed" in self.world.changes:
            # Nothing tells its copies from other items, and the plan says that they stay.
            there = {one for one in there if not _is_pointer(one[1])}
        wanted = frozen_items(self.world.expected(side))
        if side == "new" and self.world.shapes["old"].counted is None:
            # What was never counted is 0, stored or not.
            there, wanted = _without_zero(there), _without_zero(wanted)
        there, wanted = (self.with_equal_ranks(one) for one in (there, wanted))
        if there != wanted:
            raise AssertionError(f"{self.world}\n{_told(there, wanted)}")

    def with_equal_ranks(self, contents: set[Any]) -> set[Any]:
        """The ranks of records that were given a key back, spelled alike."""
        found = set()
        for table, item in contents:
            values = dict(item)
            if values.get("id", ("", ""))[1] in self.returned and values.get("rank", " ")[0] == "S":
                values["rank"] = ("S", str(int(values["rank"][1])))
            found.add((table, frozenset(values.items())))
        return found

    def tables(self) -> list[str]:
        found: list[str] = self.boto.list_tables()["TableNames"]
        return found

    def run(self) -> None:
        seen = boto_client(self.address) if self.address else witness(self.engine)
        with seen as self.boto, moved_into(self.stage):
            self.stage.spawn("old application", lambda: self.work("old"))
            self.stage.spawn("new application", lambda: self.work("new"))
            self.stage.spawn("readers", self.read_all_the_while)
            self.stage.spawn("consumer", self.consume)
            self.stage.spawn("operator", self.operate)
            self.stage.run()
        self.client.close()
        self.engine.close()

    def operate(self) -> None:
        for group in GROUPS:
            owner = self.world.owner(group, "old")
            self.client.call("PutItem", {"TableName": "Owners", "Item": owner})
        for _ in range(self.chance.randint(3, 25)):
            self.write_old()
        self.compare("old")
        self.let_consume("old")
        self.let_write("old")
        self.until_done(lambda m: m.apply("verify"))
        if self.chance.random() < 0.4:
            self.until_done(lambda m: m.rollback())
            self.let_write()
            self.let_consume(None)
            self.compare("old")
            self.let_consume("old")
            self.let_write("old")
            self.until_done(lambda m: m.apply("verify"))
        slow = Interrupted(self.client, self.stage, self.backend.latency)
        self.app = self.designs["new"].open(slow, migration=self.migration, clock=self.stage)
        self.roll_out()
        self.let_write("new")
        self.let_consume(None)
        self.until_done(lambda m: m.apply("hold"), without_routers=True)
        self.let_consume("new")
        self.chance.choice([self.go_back, self.go_back_slowly, self.complete, self.complete])()
        self.over = True

    def roll_out(self) -> None:
        """Old and new applications beside each other, while copying goes on."""
        self.let_write()
        follower = self.migrator()
        for _ in range(8):
            self.write("old")
            rounds = iter([False] * 4 + [True])
            follower.follow(lambda rounds=rounds: next(rounds))  # type: ignore[misc]
            self.write("new")
        self.let_write("old", "new")
        follower.follow(lambda: not self.rest)
        self.let_write()
        follower.apply("verify")

    def go_back(self) -> None:
        self.let_consume(None)
        if self.world.place == "stay":
            self.let_write()  # nobody may write the new shape from here on
        self.until_done(lambda m: m.rollback())
        self.let_write()
        self.compare("old")

    def go_back_slowly(self) -> None:
        """Both sides are written again, the old application is deployed, and then the rest."""
        self.let_consume(None)
        self.until_done(lambda m: m.rollback("verify"))
        self.roll_out()
        self.let_write("old")
        self.until_done(lambda m: m.rollback())
        self.let_write()
        self.compare("old")

    def complete(self) -> None:
        self.until_done(lambda m: m.apply("contract"), without_routers=True)
        self.let_write()
        self.let_consume(None)
        self.compare("new")


def _is_pointer(item: Any) -> bool:
    return any(name == "pk" and value[1].startswith("IN#") for name, value in item)


def _without_zero(contents: set[Any]) -> set[Any]:
    return {(table, item - {("things", ("N", 0))}) for table, item in contents}


def _key_of(item: Item) -> Item:
    return {name: item[name] for name in ("pk", "sk") if name in item}


def _difference(was: Item, now: Item) -> Item:
    """An update of what changed."""
    names = sorted(n for n in was.keys() | now.keys() if was.get(n) != now.get(n))
    sets = [f"#n{n} = :v{n}" for n, name in enumerate(names) if name in now]
    removes = [f"#n{n}" for n, name in enumerate(names) if name not in now]
    clauses = [f"SET {', '.join(sets)}"] * bool(sets)
    clauses += [f"REMOVE {', '.join(removes)}"] * bool(removes)
    if not clauses:
        return {}
    values = {f":v{n}": now[name] for n, name in enumerate(names) if name in now}
    change: Item = {"UpdateExpression": " ".join(clauses)}
    change["ExpressionAttributeNames"] = {f"#n{n}": name for n, name in enumerate(names)}
    return {**change, "ExpressionAttributeValues": values} if values else change


def _for_boto(value: Any) -> Any:
    """A request with binary values as bytes."""
    if isinstance(value, list):
        return [_for_boto(one) for one in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1 and isinstance(value.get("B"), str):
        return {"B": base64.b64decode(value["B"])}
    if len(value) == 1 and isinstance(value.get("BS"), list):
        return {"BS": [base64.b64decode(one) for one in value["BS"]]}
    return {name: _for_boto(one) for name, one in value.items()}


def _told(there: set[Any], wanted: set[Any]) -> str:
    more = [f"unexpected {table} {sorted(map(str, item))}" for table, item in list(there - wanted)]
    less = [f"missing {table} {sorted(map(str, item))}" for table, item in list(wanted - there)]
    return "\n".join([*more[:3], *less[:3]])


@pytest.mark.parametrize("seed", [*range(FIRST, FIRST + MANY), *CASES])
def test_a_random_migration_loses_and_changes_nothing(seed: int, tmp_path: Path) -> None:
    Trial(seed, tmp_path).run()
