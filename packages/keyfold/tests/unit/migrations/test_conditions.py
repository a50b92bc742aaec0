"""A condition that changes: diff, plan and document name it, and the migration leaves no drift."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from keyfold import Design, cli
from keyfold.maintain import verify
from keyfold.migrations import Migrator, backend_of, diff, load
from keyfold.migrations.plan import draft
from keyfold.migrations.snapshot import dump
from keyfold.migrations.snapshot import load as load_snapshot
from keyfold.review.docs.content import document
from keyfold.review.docs.markdown import markdown
from keyfold_engine.clients import connect

EVENTS = """
from typing import Annotated
from keyfold import Counter, Design, Entity, Id, Index, Key, On, Pointer, Unique
design = Design("events")
table = design.table("Events", indexes=[Index("GSI1", "gpk", "gsk")], stream="NEW_AND_OLD_IMAGES")
class Host(Entity, table=table):
    host_id: Id
    shown: Annotated[int, Counter("Event", where=lambda e: e.status == "PUBLISHED")] = 0
    key = Key("HOST#{host_id}", "HOST")
class Event(Entity, table=table):
    host_id: Id
    event_id: Id
    status: str = "DRAFT"
    tags: set[str] = set()
    marks: set[str] = set()
    key = Key("HOST#{host_id}", "EVENT#{event_id}")
    listed = On("GSI1", "LISTED", "{event_id}", when=lambda e: e.status == "PUBLISHED")
    once = Unique("event_id")
class EventIn(Pointer[Event], table=table, each="tags"):
    tag: str
    host_id: Id
    event_id: Id
    key = Key("TAG#{tag}", "EVENT#{host_id}#{event_id}")
"""
STATUSES = ["DRAFT", "PUBLISHED", "CANCELLED", "PUBLISHED"]


class World:
    """A design as a module, a database with items of its first form, and plans that are applied."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.client = folder, connect(":memory:")
        self._monkeypatch = monkeypatch
        monkeypatch.syspath_prepend(str(folder))

    def design(self, name: str, text: str) -> Design:
        (self.folder / f"{name}.py").write_text(text)
        self._monkeypatch.delitem(sys.modules, name, raising=False)
        made: Design = __import__(name).design
        return made

    def fill(self, design: Design) -> None:
        event: Any = design.entities["Event"]
        host: Any = design.entities["Host"]
        db = design.open(self.client)
        db.create(host(host_id="h"))
        for number in range(9):
            values: Any = {"status": STATUSES[number % 4], "tags": {"a"}, "marks": {"b", "c"}}
            db.create(event(host_id="h", event_id=f"e{number}", **values))

    def plan(self, name: str, old: Design, new: Design) -> str:
        before = load_snapshot(dump(old.schema))
        made = draft(f"plan_{name}", before, new.schema, design=f"{name}:design")
        made.save(self.folder)
        return made.text

    def migrator(self, name: str) -> Migrator:
        return Migrator(
            load(self.folder / f"plan_{name}.yaml"), backend_of(self.client), without_routers=True
        )

    def listed(self) -> set[str]:
        answer = self.client.call(
            "Query",
            {
                "TableName": "Events",
                "IndexName": "GSI1",
                "KeyConditionExpression": "gpk = :k",
                "ExpressionAttributeValues": {":k": {"S": "LISTED"}},
            },
        )
        return {item["status"]["S"] for item in answer["Items"]}

    def is_clean(self, design: Design) -> bool:
        return verify(design.open(self.client, create_tables=False)).clean


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    return World(tmp_path, monkeypatch)


def _change(place: str) -> str:
    """The events with another condition of the index or of the counter."""
    head, _, tail = EVENTS.partition(place)
    return head + place + tail.replace('"PUBLISHED"', '"CANCELLED"', 1)


def test_an_index_whose_condition_changed_is_named_everywhere_and_migrated(world: World) -> None:
    old = world.design("events_one", EVENTS)
    new = world.design("events_two", _change("listed = On"))
    world.fill(old)
    assert world.listed() == {"PUBLISHED"}
    text = markdown(document(new.schema), pictures="")
    assert 'when `status = "CANCELLED"`' in text
    (change,) = diff(load_snapshot(dump(old.schema)), new.schema)
    assert str(change) == (
        'items of Event are in GSI1 where status = "CANCELLED" (before: where status = "PUBLISHED")'
    )
    assert "fill indexes: " in world.plan("events_two", old, new)
    assert not world.is_clean(new)
    migrator = world.migrator("events_two")
    migrator.apply("hold")
    assert world.listed() == {"CANCELLED"}
    assert world.is_clean(new)
    migrator.rollback()
    assert world.listed() == {"PUBLISHED"}, "going back is by the old condition"
    assert world.is_clean(old)


def test_a_counter_whose_condition_changed_is_named_everywhere_and_recounted(world: World) -> None:
    old = world.design("counted_one", EVENTS)
    new = world.design("counted_two", _change("shown:"))
    world.fill(old)
    text = markdown(document(new.schema), pictures="")
    assert 'number of Event where `status = "CANCELLED"`' in text
    (change,) = diff(load_snapshot(dump(old.schema)), new.schema)
    assert str(change) == (
        'counter Host.shown: where status = "CANCELLED" (before: where status = "PUBLISHED")'
    )
    assert "recount: Host.shown" in world.plan("counted_two", old, new)
    assert not world.is_clean(new)
    world.migrator("counted_two").apply("contract")
    assert world.is_clean(new)


def test_a_pointer_of_another_list_is_restored_and_what_is_no_longer_due_goes(world: World) -> None:
    old = world.design("pointed_one", EVENTS)
    new = world.design("pointed_two", EVENTS.replace('each="tags"', 'each="marks"'))
    world.fill(old)
    assert "restore: pointer EventIn" in world.plan("pointed_two", old, new)
    world.migrator("pointed_two").apply("contract")
    assert world.is_clean(new)


def test_a_pointer_and_a_unique_that_are_kept_no_more_leave_nothing(world: World) -> None:
    old = world.design("kept_one", EVENTS)
    without = EVENTS.partition("class EventIn")[0].replace('    once = Unique("event_id")\n', "")
    new = world.design("kept_two", without)
    world.fill(old)
    plan = world.plan("kept_two", old, new)
    assert "drop entity: EventIn" in plan
    assert "remove markers:\n  - event_id\n  of: Event" in plan
    world.migrator("kept_two").apply("contract")
    items = world.client.call("Scan", {"TableName": "Events"})["Items"]
    assert {item["type"]["S"] for item in items} == {"Host", "Event"}


def test_the_commands_name_a_changed_condition(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "keyfold.toml").write_text('design = "commanded:design"\nbackend = "events.db"\n')
    module = tmp_path / "commanded.py"
    module.write_text(EVENTS)
    with __import__("commanded").design.open("events.db"):
        pass
    assert cli.main(["migrations", "snapshot"]) == 0
    assert cli.main(["migrations", "check"]) == 0
    module.write_text(_change("listed = On"))
    monkeypatch.delitem(sys.modules, "commanded")
    capsys.readouterr()
    assert cli.main(["migrations", "check"]) == 1
    shown = 'where status = "CANCELLED" (before: where status = "PUBLISHED")'
    assert shown in capsys.readouterr().out
    assert cli.main(["migrations", "plan", "cancelled"]) == 0
    (plan,) = (tmp_path / "migrations").glob("*_cancelled.yaml")
    assert shown in plan.read_text()
