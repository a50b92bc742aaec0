"""First drafts: Python from a design file, and a design file from a table with items in it."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keyfold.cli import main
from keyfold.design.condition import there
from keyfold.design.file import load, loads
from keyfold.design.schema import Schema
from keyfold.errors import KeyfoldError
from keyfold.review.check import check
from keyfold.review.draft import names
from keyfold.review.draft.declarations import declarations_of
from keyfold.review.draft.python import declaration
from keyfold_engine.clients import Client, connect
from keyfold_workbench.adopt.inspection import observe

SOCIAL = """\
design: social
description: Posts and people.
tables:
  social:
    key: [PK, SK]
    ttl: expiresAt
    stream: NEW_AND_OLD_IMAGES
    indexes:
      EntityTime: {key: {gsi1pk: S, startTimestamp: N}}
      ByEmail: {key: [GSI2PK]}
entities:
  USER_PROFILE:
    key: {PK: USER#<userId>, SK: PROFILE}
    uniques: [{fields: [email]}]
    indexes:
      ByEmail: {GSI2PK: "EMAIL#{email:lower}"}
    attributes:
      userId: id
      email: string
      posts: number
      tags: string_set max 20
      odd_name: optional string
  Post:
    key: {PK: USER#<userId>, SK: POST#<postId>}
    indexes:
      EntityTime: {gsi1pk: TAG#<tagId>, startTimestamp: "{startTimestamp:epoch_ms}", when: tagId}
    attributes:
      userId: id -> USER_PROFILE
      postId: id
      tagId: optional id
      readers: string_set -> USER_PROFILE max 20
      title: string
      startTimestamp: timestamp epoch_ms
    ttl: {attribute: expiresAt, days: 30}
  PostCopy:
    key: {PK: READER#<readerId>, SK: POST#<postId>}
    role: pointer
    copy: {of: Post, fields: [title], each: readers, sync: transaction}
    attributes: {readerId: id, postId: id, title: string}
patterns:
  Profile: {get: USER_PROFILE, where: "PK = USER#<userId>, SK = PROFILE", requests: 1}
  Profile by email: {query: USER_PROFILE, index: ByEmail, where: "GSI2PK = EMAIL#<email>"}
  Posts of a user:
    query: Post
    where: PK = USER#<userId>, SK begins_with POST#
    limit: 20
    descending: true
  Posts since:
    query: Post
    index: EntityTime
    where: gsi1pk = TAG#<tagId>, startTimestamp >= <startTimestamp>
  Last post: {latest: Post, where: "PK = USER#<userId>, SK begins_with POST#", descending: true}
  Number of posts: {count: Post, where: "PK = USER#<userId>, SK begins_with POST#"}
  A user whole: {collection: [USER_PROFILE, Post], partition: USER#<userId>}
  Posts of many: {merge: Post, partition: USER#<userId>, condition: "SK begins_with POST#"}
  By colour: {query: Post, filter: colour = red}
counters:
  posts: {counts: Post, target: USER_PROFILE, attribute: posts}
"""


def imported(name: str, text: str, folder: Path) -> ModuleType:
    path = folder / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Pydantic looks types up in the module's namespace.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules[name]
    return module


@pytest.fixture
def social(tmp_path: Path) -> ModuleType:
    text, unserved = declaration(loads(SOCIAL))
    assert unserved == ["By colour"]
    return imported("drafted_social", text, tmp_path)


def test_drafted_python_declares_the_same_keys(social: ModuleType) -> None:
    schema: Schema = social.design.schema
    assert {e.name: str(e.key) for e in schema.entities} == {
        "UserProfile": "USER#{user_id} / PROFILE",
        "Post": "USER#{user_id} / POST#{post_id}",
        "PostCopy": "READER#{reader_id} / POST#{post_id}",
    }
    post = schema.by_entity["Post"]
    assert str(post.placements[0].key) == "TAG#{tag_id} / {start_timestamp:epoch_ms}"
    assert post.placements[0].when == there("tag_id")
    assert schema.by_entity["PostCopy"].copy is not None
    assert [f.source for f in schema.follows if f.fact == "amount"] == ["Post"]
    assert schema.by_entity["UserProfile"].uniques[0].fields == ("email",)


def test_drafted_python_keeps_the_names_on_disk(social: ModuleType) -> None:
    schema: Schema = social.design.schema
    stored = [a.name for a in schema.by_entity["UserProfile"].attributes]
    assert stored == ["userId", "email", "posts", "tags", "odd_name"]


def test_drafted_patterns_ask_for_the_same(social: ModuleType) -> None:
    patterns = social.design.schema.by_pattern
    assert {name: pattern.kind for name, pattern in patterns.items()} == {
        "profile": "get",
        "profile_by_email": "query",
        "posts_of_a_user": "query",
        "posts_since": "query",
        "last_post": "latest",
        "number_of_posts": "count",
        "a_user_whole": "collection",
        "posts_of_many": "merge",
    }
    assert patterns["profile"].requests == 1
    assert patterns["posts_of_a_user"].descending
    assert patterns["posts_of_a_user"].limit == 20
    assert patterns["posts_since"].condition.low.parameter == "start_timestamp"


def test_drafted_python_has_nothing_that_the_reviewer_calls_an_error(social: ModuleType) -> None:
    assert not [f for f in check(social.design.schema).findings if f.severity == "error"]


def test_how_many_a_partition_holds_is_said_in_python_too(tmp_path: Path) -> None:
    written = loads(
        "design: clubs\nentities:\n"
        "  Event:\n    key: {PK: CLUB#<clubId>, SK: EVENT#<at:iso>#<eventId>}\n"
        "    attributes: {clubId: id, at: fixed timestamp, eventId: id}\n    per_partition: 50\n"
        "patterns:\n  Events: {query: Event, where: PK = CLUB#<clubId>}\n"
    )
    text, _ = declaration(written)
    module = imported("drafted_clubs", text, tmp_path)
    assert module.design.schema.by_entity["Event"].per_partition == 50
    assert {f.code for f in check(module.design.schema).findings}.isdisjoint({"W8", "Q4"})
    unsaid = imported("unsaid_clubs", text.replace(", per_partition=50", ""), tmp_path)
    assert "W8" in {f.code for f in check(unsaid.design.schema).findings}


def test_a_table_in_snake_case_says_so_once() -> None:
    text, _ = declaration(
        loads(
            """\
design: orders
tables:
  Orders: {key: [customer_id, order_id], type_attribute: null}
entities:
  Order:
    key: {customer_id: <customer_id>, order_id: <order_id>}
    attributes: {customer_id: id, order_id: id, total: number, paidAt: timestamp}
""",
        )
    )
    assert 'naming="snake"' in text
    assert "    customer_id: Id\n" in text
    assert '    paid_at: Annotated[Timestamp, Name("paidAt")]\n' in text
    assert "    total: int\n" in text


def test_drafted_python_imports_what_it_uses_and_no_namesake_of_a_field() -> None:
    text, _ = declaration(
        loads(
            "design: d\ntables: {T: {}}\nentities: {Order: {key: {PK: ORDER#<id>, SK: ORDER}, "
            "attributes: {id: id, total: number, each: string}}}",
        )
    )
    assert "from keyfold import Design, Entity, Id, Key\n" in text


def test_new_writes_a_file_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "social.yaml").write_text(SOCIAL, encoding="utf-8")
    made = tmp_path / "design.py"
    assert main(["new", str(tmp_path / "social.yaml"), "-o", str(made)]) == 0
    assert "left out 'By colour': no key serves it" in capsys.readouterr().err
    assert main(["new", str(tmp_path / "social.yaml"), "-o", str(made)]) == 2
    assert main(["new", str(tmp_path / "social.yaml"), "-o", str(made), "--force"]) == 0
    assert made.read_text(encoding="utf-8").startswith('"""Posts and people."""\n')


@pytest.mark.parametrize(
    ("name", "field", "class_name"),
    [
        ("createdAt", "created_at", "CreatedAt"),
        ("USER_PROFILE", "user_profile", "UserProfile"),
        ("GSI1PK", "gsi1pk", "Gsi1pk"),
        ("Get user's rooms", "get_users_rooms", "GetUsersRooms"),
        ("class", "class_", "Class"),
        ("1.1 import", "n1_1_import", "N11Import"),
    ],
)
def test_names_become_python(name: str, field: str, class_name: str) -> None:
    assert names.field(name) == field
    assert names.class_name(name) == class_name


def _put(client: Client, **values: Any) -> None:
    wire = {k: {"N": str(v)} if isinstance(v, int) else {"S": v} for k, v in values.items()}
    client.call("PutItem", {"TableName": "rooms", "Item": wire})


@pytest.fixture
def backend(tmp_path: Path) -> str:
    address = str(tmp_path / "rooms.db")
    client = connect(address)
    text = [("PK", "S"), ("SK", "S"), ("GSI1PK", "S"), ("GSI1SK", "S")]
    client.call(
        "CreateTable",
        {
            "TableName": "rooms",
            "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [
                {"AttributeName": name, "AttributeType": kind} for name, kind in text
            ],
            "KeySchema": [
                {"AttributeName": "PK", "KeyType": "HASH"},
                {"AttributeName": "SK", "KeyType": "RANGE"},
            ],
            "GlobalSecondaryIndexes": [
                {
                    "IndexName": "Status",
                    "KeySchema": [
                        {"AttributeName": "GSI1PK", "KeyType": "HASH"},
                        {"AttributeName": "GSI1SK", "KeyType": "RANGE"},
                    ],
                    "Projection": {"ProjectionType": "ALL"},
                }
            ],
        },
    )
    for room in ("a1", "b2", "c3"):
        _put(client, PK=f"ROOM#{room}", SK="ROOM", roomId=room, name=f"Room {room}")
        for number, status in enumerate(("new", "seen")):
            listing = f"{room}-{number}"
            indexed = {"GSI1PK": f"ROOM#{room}", "GSI1SK": f"STATUS#{status}#{listing}"}
            _put(
                client,
                PK=f"ROOM#{room}",
                SK=f"LISTING#{listing}",
                roomId=room,
                listingId=listing,
                status=status,
                price=number,
                addedAt=f"2025-01-0{number + 1}T10:00:00Z",
                **(indexed if number or room != "a1" else {}),
            )
    client.close()
    return address


def test_a_table_is_drafted_from_its_items(backend: str) -> None:
    client = connect(backend)
    schema = observe(client, "rooms", sample=1000)
    client.close()
    assert {e.name: str(e.key) for e in schema.entities} == {
        "Listing": "ROOM#{roomId} / LISTING#{listingId}",
        "Room": "ROOM#{roomId} / ROOM",
    }
    listing = schema.by_entity["Listing"]
    assert listing.description == "67% of the sample, 6 items"
    assert str(listing.placements[0].key) == "ROOM#{roomId} / STATUS#{status}#{listingId}"
    assert listing.placements[0].note == "present on 83% of them"
    kinds = {a.name: a.type for a in listing.attributes}
    assert kinds == {
        "roomId": "id",
        "listingId": "id",
        "status": "string",
        "price": "number",
        "addedAt": "timestamp",
    }


def test_what_inspect_writes_is_a_design_file(
    backend: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = tmp_path / "rooms.yaml"
    assert main(["inspect", "rooms", "--backend", backend, "-o", str(made)]) == 0
    assert not [f for f in check(load(made)).findings if f.code in ("K1", "K2", "K4", "Q10")]
    assert main(["inspect", "rooms", "--backend", backend, "-o", str(made)]) == 2
    assert main(["inspect", "nothing", "--backend", backend]) == 2
    assert "rooms.yaml already exists" in capsys.readouterr().err


def test_a_live_table_is_compared_with_its_design(
    backend: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = """\
design: rooms
tables:
  rooms: {key: [PK, SK], ttl: expiresAt, indexes: {Status: {key: [GSI1PK, GSI1SK]}}}
  archive: {key: [PK]}
entities:
  Room: {table: rooms, key: {PK: ROOM#<roomId>, SK: ROOM}}
"""
    (tmp_path / "rooms.yaml").write_text(text, encoding="utf-8")
    arguments = ["check", str(tmp_path / "rooms.yaml"), "--backend", backend, "--select", "L"]
    assert main(arguments) == 0
    assert main([*arguments, "--live"]) == 1
    told = " ".join(capsys.readouterr().out.split())
    assert "its TTL attribute is not set, and the design has expiresAt" in told
    assert "archive does not exist" in told
    assert "items with keys like `ROOM#…` / `LISTING#…` are in the table (67% of" in told
    assert "ROOM#…` / `ROOM`" not in told
    assert "L3" not in told, "no attributes are listed"
    listed = text.replace("SK: ROOM}", "SK: ROOM}, attributes: {roomId: string}")
    (tmp_path / "rooms.yaml").write_text(listed, encoding="utf-8")
    main([*arguments, "--live"])
    assert "which no entity of their key declares" in " ".join(capsys.readouterr().out.split())


LONG = """
design: logs
entities:
  Entry:
    key:
      PK: TENANT#<tenantIdentifier>#SERVICE#<serviceIdentifier>
      SK: ENTRY#<entryIdentifier>
    attributes: {tenantIdentifier: id, serviceIdentifier: id, entryIdentifier: id, at: string}
patterns:
  one entry:
    get: Entry
    where: >-
      PK = TENANT#<tenantIdentifier>#SERVICE#<serviceIdentifier>, SK = ENTRY#<entryIdentifier>
"""


def test_a_long_get_pattern_is_one_call(tmp_path: Path) -> None:
    text, unserved = declaration(loads(LONG))
    assert unserved == []
    module = imported("drafted_logs", text, tmp_path)
    assert module.design.schema.patterns[0].kind == "get"
    assert ".query(" not in text


def test_a_parameter_is_no_import(tmp_path: Path) -> None:
    text, _ = declaration(
        loads(
            "design: x\nentities:\n  Note:\n    key: {PK: ROOM#<room>, SK: <at>}\n"
            "    attributes: {room: id, at: string}\n"
            "patterns:\n  one: {get: Note, where: 'PK = ROOM#<room>, SK = <at>'}\n"
        )
    )
    imported("drafted_at", text, tmp_path)
    lines = text.splitlines()
    (line,) = [one for one in lines if one.startswith("from keyfold import")]
    assert " at" not in line


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("attributes: {user-id: id, user_id: id}", "fields of Note user-id and user_id are both"),
        ("attributes: {user.id: id, userId: id}", "rename one of them"),
    ],
)
def test_two_names_that_python_cannot_tell_apart_are_refused(text: str, told: str) -> None:
    schema = loads(f"design: x\nentities:\n  Note:\n    key: {{PK: N, SK: N}}\n    {text}\n")
    with pytest.raises(KeyfoldError, match=told):
        declaration(schema)


AWKWARD = (
    "Key", "key", "Entity", "Query", "get", "list", "design", "table", "class", "None", "self",
    "2nd", "user-id", "user_id", "date", "Decimal", "str", "limit", "Änderung", "a b", "_x",
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(
    entity=st.sampled_from(AWKWARD),
    other=st.sampled_from(AWKWARD),
    pattern=st.sampled_from(AWKWARD),
    fields=st.lists(st.sampled_from(AWKWARD), min_size=1, max_size=3, unique=True),
)
def test_a_module_imports_and_reads_back_whatever_things_are_called(
    entity: str, other: str, pattern: str, fields: list[str]
) -> None:
    quoted = [json.dumps(name) for name in (entity, other, pattern)]
    held = ", ".join(f"{json.dumps(name)}: string" for name in fields)
    text = (
        f"design: awkward\nentities:\n  {quoted[0]}:\n"
        f"    key: {{PK: A#<id>, SK: A}}\n    attributes: {{id: id, {held}}}\n"
    )
    if other != entity:
        text += f"  {quoted[1]}: {{key: {{PK: B#<id>, SK: B}}, attributes: {{id: id}}}}\n"
    text += f"patterns:\n  {quoted[2]}: {{get: {quoted[0]}, where: 'PK = A#<id>, SK = A'}}\n"
    try:
        schema = loads(text)
        made, unserved = declaration(schema)
    except KeyfoldError:
        return
    assert unserved == []
    again = declarations_of(schema, "awkward.yaml").schema
    assert {e.type_name or e.name: str(e.key) for e in again.entities} == {
        e.type_name or e.name: str(e.key) for e in schema.entities
    }, made
    stored = {e.type_name or e.name: {a.name for a in e.attributes} for e in again.entities}
    assert stored[entity] >= {"id", *fields}, made
    assert len(again.patterns) == 1
