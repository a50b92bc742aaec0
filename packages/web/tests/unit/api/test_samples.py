"""Example bodies in the documentation."""

from __future__ import annotations

from pydantic import BaseModel

from keyfold_web import Service, authenticated, mutation
from keyfold_web.openapi import paths_and_schemas
from keyfold_web.samples import Samples


def test_an_example_says_what_to_fill_in() -> None:
    guest = {"type": "object", "properties": {"userId": {"type": "string"}}, "required": ["userId"]}
    moment = {"type": "string", "format": "date-time"}
    schema = {
        "type": "object",
        "properties": {
            "firstName": {"type": "string", "minLength": 1},
            "workEmail": {"type": "string"},
            "startsAt": moment,
            "endsAt": moment,
            "guests": {"type": "array", "items": {"$ref": "#/components/schemas/Guest"}},
            "seats": {"type": "integer", "exclusiveMinimum": 3},
            "note": {"type": "string"},
        },
        "required": ["firstName", "workEmail", "startsAt", "endsAt", "guests", "seats"],
    }
    assert Samples({"Guest": guest}).of(schema) == {
        "firstName": "First name",
        "workEmail": "ada@example.org",
        "startsAt": "2030-01-01T10:00:00Z",
        "endsAt": "2030-01-01T11:00:00Z",
        "guests": [{"userId": "userId"}],
        "seats": 4,
    }


def test_a_body_whose_fields_may_all_be_left_out_shows_the_first() -> None:
    ids = {"type": "array", "items": {"type": "string"}}
    schema = {"type": "object", "properties": {"groupIds": ids, "userIds": ids}}
    assert Samples({}).of(schema) == {"groupIds": ["groupId"]}


class Branch(BaseModel):
    name: str
    branches: list[Branch]


def test_a_body_that_contains_itself_is_documented_without_an_example() -> None:
    class Trees(Service):
        @mutation("/trees", allow=authenticated)
        async def plant(self, tree: Branch) -> Branch:
            """Plant a tree."""
            return tree

    paths, _ = paths_and_schemas(Trees)
    content = paths["/trees"]["post"]["requestBody"]["content"]["application/json"]
    assert "example" not in content
