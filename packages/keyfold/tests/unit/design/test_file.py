"""Design files: what they say, how they say it back, and how they are refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyfold.design.file import DesignFileError, dump, dumps, load, loads
from keyfold.design.schema import (
    AttributeSchema,
    Effect,
    EntitySchema,
    OperationSchema,
    Schema,
    TableSchema,
)
from keyfold.errors import KeyfoldError

ROOMS = """\
design: rooms
tables:
  rooms:
    key: [PK, SK]
    indexes:
      Status: {key: [GSI1PK, GSI1SK], sparse: true}
      Time: {key: {GSI1PK: S, at: N}}
    ttl: ttl
entities:
  Room:
    key: {PK: ROOM#<roomId>, SK: ROOM}
    attributes:
      roomId: id
      kind: string one of buy, rent
  Activity:
    key:
      PK: ROOM#{roomId}
      SK: ACTIVITY#{at:epoch_ms}#{activityId}
    indexes:
      Status:
        - {GSI1PK: STATUS#<status>, GSI1SK: ACTIVITY, when: status}
        - {GSI1PK: SENDER#<senderId>, GSI1SK: ACTIVITY, name: by_sender}
    attributes:
      roomId: fixed id -> Room
      at: fixed timestamp epoch_ms
      activityId: id like ACT#<uuid>
      status: optional string
      senderId: id -> User
      seenBy: list -> User max 20
      media: {type: map, name: mediaMap, description: "where, and how large"}
    ttl: 90 days
    silence: [{code: W8, reason: kept for the auditors}]
patterns:
  Room by id: {get: Room, where: "PK=ROOM#<roomId>, SK=ROOM", requests: 1}
  Activities after:
    query: Activity
    where: PK = ROOM#<roomId> AND SK > ACTIVITY#<at>
    limit: size
  Everything in a room: {query: everything, partition: "ROOM#{roomId}"}
  Members: {query: Activity, partition: "ROOM#{roomId}", condition: "begins_with(SK, 'MEMBER#')"}
operations:
  post:
    does:
      - create Activity guarded
      - update each Room (kind, name) via Status
    retried: true
counters:
  activities: {counts: Activity, target: Room, attribute: count, sync: stream, floor: 0}
stated: {indexes: 2}
steps:
  move: {action: update_table, table: rooms, adds: [Status, Time]}
before:
  tables: {rooms: {key: [id]}}
"""


def test_a_file_says_tables_entities_keys_and_patterns() -> None:
    schema = loads(ROOMS)
    room, activity = schema.entities
    assert str(room.key) == "ROOM#{roomId} / ROOM"
    assert [p.name for p in activity.placements] == ["Status", "by_sender"]
    assert activity.by_field["seenBy"] == AttributeSchema(
        "seenBy", "seenBy", "list", max_items=20, refers="User"
    )
    assert activity.by_field["activityId"].looks_like == "ACT#{uuid}"
    assert activity.ttl is not None
    assert activity.ttl.days == 90
    table = schema.tables[0]
    assert [i.sort_type for i in table.indexes] == ["S", "N"]
    after = schema.by_pattern["Activities after"]
    assert (after.condition.operator, str(after.condition.template)) == ("gt", "ACTIVITY#{at}")
    assert after.limit_parameter == "size"
    assert schema.by_pattern["Members"].condition.operator == "begins_with"
    assert schema.by_pattern["Everything in a room"].entities == ()
    assert schema.operations[0].effects[1] == Effect(
        "update", "Room", fields=("kind", "name"), each=True, via_index="Status"
    )
    assert schema.before is not None
    assert schema.before.tables[0].sort is None


def test_everything_has_its_place() -> None:
    schema = loads(ROOMS, file="rooms.yaml")
    assert str(schema.entities[1].place) == "rooms.yaml:15:3"
    assert str(schema.by_pattern["Activities after"].place) == "rooms.yaml:35:3"


def test_what_is_written_reads_back_as_the_same_design(tmp_path: Path) -> None:
    schema = loads(ROOMS)
    assert loads(dumps(schema)) == schema
    dump(schema, tmp_path / "rooms.yaml")
    assert load(tmp_path / "rooms.yaml") == schema


def wrong(text: str) -> str:
    with pytest.raises(DesignFileError) as error:
        loads(text, file="d.yaml")
    return str(error.value)


def test_an_unknown_field_names_the_nearest_one() -> None:
    message = wrong("design: d\nentities:\n  A:\n    atributes: {}\n")
    assert message == "d.yaml:4:5: an entity has no field 'atributes'; did you mean 'attributes'?"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a:\n - [1", "d.yaml:2:6: this is not YAML"),
        ("", "d.yaml:1: the file is empty"),
        ("design: d\nentities: [A]\n", "d.yaml:2:11: expected names with their fields"),
        ("design: d\nentities: {A: {key: {PK: x, S: y}}}", "the key has no attribute 'S'"),
        ("design: d\nentities: {A: {key: {PK: 'A#{id'}}}", "unmatched brace"),
        ("design: d\nentities: {A: {attributes: {id: strnig}}}", "did you mean 'string'?"),
        ("design: d\nentities: {A: {attributes: {id: string of}}}", "is not an attribute; write"),
        ("design: d\nentities: {A: {indexes: {X: {}}}}", "has no index 'X'"),
        ("design: d\npatterns: {p: {index: X}}", "needs one of get, query"),
        ("design: d\npatterns: {p: {get: A, condition: SK is X}}", "is not a key condition"),
        ("design: d\npatterns: {p: {get: A, where: 'PQ = X'}}", "is not about PK or SK"),
        ("design: d\npatterns: {p: {get: A, descending: 3}}", "must be true or false"),
        ("design: d\noperations: {o: {does: [creat A]}}", "'creat'; did you mean 'create'?"),
        ("design: d\noperations: {o: {does: [create]}}", "is not a write"),
        ("design: d\nentites: {}", "d.yaml:2:1: a design has no field 'entites'; did you mean"),
        ("design: d\nentities: {A: {key: {PK: A#<id, SK: A}}}", "d.yaml:2:26: the key 'A#<id' has"),
        ("design: d\nentities: {A: {attributes: {s: string one of a, b}}}", "b has no type; write"),
        ("design: d\npatterns: {p: {query: A, limit: -1}}", "d.yaml:2:33: limit must be 1 or more"),
        ("design: d\npatterns: {p: {query: A, limit: 0}}", "limit must be 1 or more"),
        ("design: d\npatterns: {p: {get: A, where: SK starts_with X}}", "begins_with X, between"),
        ("design: d\n\tentities: {}", "indent with spaces"),
        ("design: d\ncounters: {c: {counts: A}}", "a counter needs a field 'target'"),
        ("design: d\ndesign: e", "d.yaml:2:1: 'design' appears twice"),
        ("design: d\ntables: {a: {}, b: {}}\nentities: {A: {}}", "add the table, one of"),
        ("design: d\nentities: {A: {role: pointr}}", "did you mean 'pointer'?"),
        ("design: d\nentities: {A: {ttl: soon}}", "90 days"),
        ("entities: {A: {}}", "d.yaml:1:1: the design file has no name; add a line such as"),
        ("desing: d", "d.yaml:1:1: a design has no field 'desing'; did you mean 'design'?"),
        ("design: 5", "d.yaml:1:9: expected the design's name, found '5'"),
        ("design: d\ntables: {a: {key: 5}}", "d.yaml:2:19: expected a key attribute's name"),
        ("design: d\nentities: {A: {key: 5}}", "d.yaml:2:21: expected key attributes with"),
        ("design: d\nentities: {A: {indexes: {X: {}}}}", "there are none here"),
        ("design: d\nentities: {A: {attributes: {a: {type: strng}}}}", "d.yaml:2:39: 'strng' is"),
        ("design: d\npatterns: {p: {query: A, partition: }}", "d.yaml:2:37: expected a key"),
    ],
)
def test_a_wrong_file_is_refused_with_place_and_remedy(text: str, expected: str) -> None:
    assert expected in wrong(text)


def test_a_condition_on_an_index_that_is_not_there_names_the_nearest_one() -> None:
    text = """
design: d
tables: {main: {key: [PK, SK], indexes: {ByDay: {key: [day]}}}}
patterns: {p: {query: A, index: ByDays, where: day = X}}
"""
    assert wrong(text) == "d.yaml:4:33: the table main has no index 'ByDays'; did you mean 'ByDay'?"


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(KeyfoldError, match="cannot be read: No such file"):
        load(tmp_path / "none.yaml")


def test_doubled_angles_in_a_key_are_the_characters_themselves() -> None:
    text = 'design: d\nentities: {A: {key: {PK: "A<<>><id>", SK: "{id}"}, attributes: {id: id}}}\n'
    schema = loads(text)
    assert schema.entities[0].key is not None
    assert schema.entities[0].key.partition.text == "A<>{id}"
    assert loads(dumps(schema)) == schema


words = st.from_regex(r"[A-Za-z][A-Za-z0-9_]{0,8}", fullmatch=True)
attributes = st.builds(
    AttributeSchema,
    name=words,
    field=words,
    type=st.sampled_from(["id", "string", "number", "list", "timestamp", "map"]),
    optional=st.booleans(),
    mutable=st.booleans(),
    values=st.lists(st.text("ab, c#'\"", min_size=1, max_size=6), max_size=3).map(tuple),
    stored=st.sampled_from(["", "iso", "iso_ms", "epoch"]),
    reads=st.lists(st.sampled_from(["string", "number", "set", "epoch_ms"]), max_size=2).map(tuple),
    max_items=st.none() | st.integers(0, 10**6),
    normalise=st.sampled_from(["", "casefold"]),
    refers=st.just("") | words,
    looks_like=st.sampled_from(["", "{uuid}", "PROFILE#{uuid}"]),
    description=st.text(max_size=20).map(lambda text: " ".join(text.split())),
)
effects = st.builds(
    Effect,
    action=st.sampled_from(["put", "create", "update", "delete", "increment", "decrement"]),
    entity=words,
    guarded=st.booleans(),
    fields=st.lists(words, max_size=3).map(tuple),
    each=st.booleans(),
    via_index=st.just("") | words,
)


@given(
    st.lists(attributes, max_size=5, unique_by=lambda attribute: attribute.field),
    st.lists(effects, max_size=3),
)
def test_any_attributes_and_writes_survive_the_file(
    held: list[AttributeSchema], written: list[Effect]
) -> None:
    entity = EntitySchema("Thing", "main", None, attributes=tuple(held))
    operation = OperationSchema("do", effects=tuple(written))
    schema = Schema("s", (TableSchema("main"),), (entity,), operations=(operation,))
    assert loads(dumps(schema)) == schema
