"""`keyfold adopt`: how much of a table a design describes, and what a write would change."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.adopt.public import designs
from tests.unit.adopt.public.made import Public, table
from tests.unit.adopt.scores import drafted

from keyfold.cli import main
from keyfold.design.file import loads
from keyfold.errors import KeyfoldError
from keyfold.review.draft.declarations import declarations_of
from keyfold_engine.clients import connect
from keyfold_workbench.adopt.coverage import Coverage, cover, summary

PUBLIC = [public for public in designs() if public.name != "GitHub"]


@pytest.mark.parametrize("public", PUBLIC, ids=[public.name for public in PUBLIC])
def test_a_drafted_design_reads_every_item_and_writes_it_as_it_was(public: Public) -> None:
    made = declarations_of(loads(drafted(public).text()), public.name)
    found = cover(made, made.tables[public.table["TableName"]], _items(public), name="t")
    assert (found.share, found.changes, found.ambiguous) == (1.0, {}, {}), summary(found)


def _items(public: Public) -> list[dict[str, Any]]:
    return [item for _, item in public.wire()]


def test_entities_of_one_key_are_asked_about_and_refused_as_they_are() -> None:
    public = next(each for each in designs() if each.name == "GitHub")
    found = drafted(public)
    assert any("User and Organization have keys of one shape" in q for q in found.questions)
    with pytest.raises(KeyfoldError, match="K4 User and Organization"):
        declarations_of(loads(found.text()), "github.yaml")


DESIGN = """\
design: rooms
tables:
  rooms: {key: [PK, SK], type_attribute: kind, indexes: {ByTown: {key: [GPK]}}}
entities:
  Room:
    key: {PK: ROOM#<roomId>, SK: ROOM}
    indexes: {ByTown: {GPK: TOWN#<town>}}
    attributes: {roomId: id, town: string, seats: number, opened: timestamp iso_ms}
"""


def room(**changes: Any) -> dict[str, Any]:
    made = {
        "PK": {"S": "ROOM#a"},
        "SK": {"S": "ROOM"},
        "GPK": {"S": "TOWN#Bonn"},
        "kind": {"S": "Room"},
        "roomId": {"S": "a"},
        "town": {"S": "Bonn"},
        "seats": {"N": "4"},
        "opened": {"S": "2025-01-01T00:00:00.000Z"},
        **changes,
    }
    return {name: value for name, value in made.items() if value is not None}


def look(*items: dict[str, Any]) -> Coverage:
    made = declarations_of(loads(DESIGN), "rooms.yaml")
    return cover(made, made.tables["rooms"], items, name="rooms")


def test_what_no_entity_describes_is_counted_by_the_shape_of_its_keys() -> None:
    lamps = [
        {"PK": {"S": f"ROOM#{n}"}, "SK": {"S": f"LAMP#{n}"}, "watts": {"N": "4"}} for n in range(5)
    ]
    found = look(room(), *lamps)
    assert {shape: case.count for shape, case in found.unknown.items()} == {"ROOM#… / LAMP#…": 5}
    told = summary(found)
    assert "rooms: 16.67 % of 6 items are described and can be read." in told
    assert "5 no entity has keys like ROOM#… / LAMP#…, as ROOM#0 / LAMP#0; ROOM#1" in told


def test_what_cannot_be_read_is_named_by_its_field() -> None:
    found = look(room(seats={"S": "four"}), room(town=None), room())
    assert found.read == {"Room": 1}
    assert [(told, case.count) for told, case in sorted(found.unreadable.items())] == [
        ("Room.seats: the attribute seats is another type, not integer", 1),
        ("Room.town: Field required", 1),
    ]


def test_what_a_put_would_change_is_told() -> None:
    found = look(
        room(kind=None),
        room(GPK=None),
        room(GPK={"S": "TOWN#Koeln"}),
        room(opened={"S": "2025-01-01T00:00:00Z"}),
        room(extra={"BOOL": True}),
    )
    assert found.share == 1.0
    assert {name: case.count for name, case in found.changes.items()} == {
        "Room.kind would be added": 1,
        "Room.GPK would be added": 1,
        "Room.GPK would be written differently": 1,
        "Room.opened would be written differently": 1,
    }
    example = found.changes["Room.opened would be written differently"].examples[0]
    assert example.endswith("(2025-01-01T00:00:00Z becomes 2025-01-01T00:00:00.000Z)")
    assert found.kept == {"Room.extra": 1}


def test_the_command_reads_all_items_or_a_sample(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    backend, design = str(tmp_path / "rooms.db"), tmp_path / "rooms.yaml"
    design.write_text(DESIGN)
    client = connect(backend)
    client.call("CreateTable", table("live-rooms", "PK SK", "ByTown GPK"))
    for n in range(30):
        item = room(PK={"S": f"ROOM#{n}"}, roomId={"S": f"{n}"})
        client.call("PutItem", {"TableName": "live-rooms", "Item": item})
    client.call(
        "PutItem", {"TableName": "live-rooms", "Item": {"PK": {"S": "X"}, "SK": {"S": "Y"}}}
    )
    client.close()
    base = ["adopt", str(design), "--backend", backend, "--table-prefix", "live-"]
    assert main(base) == 0
    assert "live-rooms: 96.77 % of 31 items" in capsys.readouterr().out
    assert main([*base, "--at-least", "99"]) == 1
    capsys.readouterr()
    assert main([*base, "--format", "json", "--sample", "10"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told[0]["items"] == 10
    assert main([*base, "--units", "3"]) == 2
    assert main(["adopt", "--backend", backend]) == 2
    assert "name a design" in capsys.readouterr().err


MARKED = f"""{DESIGN}\
    uniques: [{{fields: [town], marker: ["TOWN#<town>", TAKEN]}}]
"""


def test_markers_of_unique_values_are_counted_with_those_that_name_no_holder() -> None:
    made = declarations_of(loads(MARKED), "rooms.yaml")
    markers: list[dict[str, Any]] = [
        {"PK": {"S": f"TOWN#{town}"}, "SK": {"S": "TAKEN"}} for town in ("Bonn", "Rome")
    ]
    markers[0]["holder"] = {"M": {}}
    found = cover(made, made.tables["rooms"], [room(), *markers], name="rooms")
    assert (found.markers, found.unheld, found.share) == (2, 1, 1.0)
    assert "1 of these markers name no holder" in summary(found)
