"""Whose id a field holds: as declared, or as `<entity>_id` of an entity with its own facts says."""

from __future__ import annotations

from typing import Annotated

import pytest

from keyfold import Design, Entity, Id, Key, RefersTo
from keyfold.design.file import loads
from keyfold.errors import DeclarationError
from keyfold.review.docs.relations import relations
from keyfold.review.references import References


def target(text: str, entity: str, field: str) -> str:
    schema = loads(f"design: d\nentities:\n{text}")
    return References(schema).target(schema.by_entity[entity], field)


USERS = """
  User: {key: {PK: "USER#<id>", SK: USER}, attributes: {id: id, name: string}}
  Lock: {key: {PK: "LOCK#<name>", SK: LOCK}, attributes: {name: string}}
"""


@pytest.mark.parametrize(
    ("attributes", "field", "expected"),
    [
        ("userId: id", "userId", "User"),
        ("user_id: id", "user_id", "User"),
        ("owner: id -> User", "owner", "User"),
        ("members: string_set -> User", "members", "User"),
        ("name: string", "name", ""),
        ("id: id", "id", ""),
        ("owner_user_id: id", "owner_user_id", ""),
    ],
)
def test_an_arrow_is_declared_or_is_the_entitys_name_and_id(
    attributes: str, field: str, expected: str
) -> None:
    group = f"  Group: {{key: {{PK: G#<n>, SK: G}}, attributes: {{n: id, {attributes}}}}}\n"
    assert target(USERS + group, "Group", field) == expected


def test_no_arrow_leads_to_a_copy_by_its_name() -> None:
    text = (
        USERS
        + """
  Seat: {key: {PK: SEAT#<s>, SK: SEAT}, role: pointer, attributes: {s: id}}
  Row: {key: {PK: ROW#<r>, SK: ROW}, attributes: {r: id, seatId: id}}
"""
    )
    assert target(text, "Row", "seatId") == ""


def test_a_declaration_says_whose_id_a_field_holds() -> None:
    design = Design("teams")
    table = design.table("main")

    class User(Entity, table=table):
        id: Id

        key = Key("USER#{id}", "USER")

    class Team(Entity, table=table):
        team_id: Id
        owner_id: Annotated[Id, RefersTo("User")]
        members: Annotated[set[str], RefersTo("User")] = set()

        key = Key("TEAM#{team_id}", "TEAM")

    assert [(r.source, r.target, r.label) for r in relations(design.schema)] == [
        ("Team", "User", "owner_id")
    ]
    assert design.schema.by_entity["Team"].by_field["members"].refers == "User"


def test_what_no_design_has_is_refused_with_its_place() -> None:
    design = Design("teams")
    table = design.table("main")

    class Team(Entity, table=table):
        team_id: Id
        owner_id: Annotated[Id, RefersTo("Usr")]

        key = Key("TEAM#{team_id}", "TEAM")

    with pytest.raises(DeclarationError, match=r"Team.owner_id: the design teams has no entity"):
        design.complete()


def test_a_number_of_things_refers_to_nothing() -> None:
    design = Design("teams")
    table = design.table("main")
    with pytest.raises(DeclarationError, match="RefersTo is for ids"):

        class Team(Entity, table=table):
            team_id: Id
            size: Annotated[float, RefersTo("User")]

            key = Key("TEAM#{team_id}", "TEAM")


def test_an_arrow_is_implied_only_by_the_same_field() -> None:
    """A task's user is its goal's user; a member's user is not the group's owner."""
    text = """
  User: {key: {PK: USER#<userId>, SK: USER}, attributes: {userId: id}}
  Goal: {key: {PK: USER#<userId>, SK: GOAL#<goalId>}, attributes: {userId: id, goalId: id}}
  Task: {key: {PK: T#<goalId>, SK: T#<n>}, attributes: {goalId: id, n: id, userId: id}}
  Group: {key: {PK: G#<groupId>, SK: G}, attributes: {groupId: id, owner: id -> User}}
  Member: {key: {PK: G#<groupId>, SK: M#<userId>}, attributes: {groupId: id, userId: id}}
"""
    found = {(r.source, r.target) for r in relations(loads(f"design: d\nentities:{text}"))}
    assert ("Member", "User") in found
    assert ("Task", "User") not in found
