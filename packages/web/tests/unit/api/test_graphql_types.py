"""Pydantic types in GraphQL."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal

import orjson
import pytest
from pydantic import Field, TypeAdapter, ValidationError

from keyfold.errors import DeclarationError
from keyfold_web import ANONYMOUS, Payload, Service, anyone, mutation, query
from keyfold_web.dispatch import Caller, Dispatch
from keyfold_web.graphql import build_schema
from keyfold_web.graphql.endpoint import Executor
from keyfold_web.graphql.request import GraphQLRequest
from keyfold_web.graphql.schema import schema_text


class Cat(Payload):
    name: str
    lives: Annotated[int, Field(ge=0, le=9)] = 9


class Dog(Payload):
    name: str
    tricks: frozenset[str] = frozenset()


class Person(Payload):
    """Somebody with pets and friends."""

    name: str
    born: date
    money: Decimal
    mood: Literal["good", "bad"]
    steps: int
    height: int | float | None = None
    adult: Literal[True] | None = None
    floor: Literal[0, 1] | None = None
    extra: dict[str, Any]
    pet: Cat | Dog | None = None
    friends: list[Person] = Field(default_factory=list)


class People(Service):
    @mutation("/people", allow=anyone)
    async def add(self, person: Person) -> Person:
        """Add somebody, and get them back."""
        return person

    @query("/pets", allow=anyone)
    async def pets(self) -> list[Cat | Dog]:
        """All pets."""
        return [Cat(name="Tom"), Dog(name="Rex", tricks=frozenset({"sit"}))]


def test_each_python_type_has_its_graphql_type() -> None:
    schema = schema_text(build_schema(People))
    for line in (
        "born: Date!",
        "money: Decimal!",
        "mood: String!",
        "steps: Long!",
        "height: Number",
        "adult: Boolean",
        "floor: Long",
        "extra: JSON!",
        "pet: CatOrDog",
        "friends: [Person!]!",
        "lives: Int!",
        "union CatOrDog = Cat | Dog",
        "friends: [PersonInput!]",
    ):
        assert line in schema


async def answered(query: str, **variables: Any) -> dict[str, Any]:
    executor = Executor(Dispatch(People()), introspection=False)
    request = GraphQLRequest(query=query, variables=variables)
    _status, body = await executor.run(request, Caller(ANONYMOUS))
    return body


async def test_values_come_back_as_they_went_in() -> None:
    friend = {
        "name": "Eva",
        "born": "2001-02-03",
        "money": "12.50",
        "mood": "bad",
        "steps": 2**40,
        "height": 1.8,
        "adult": True,
        "floor": 1,
        "extra": {"a": [1, None]},
    }
    person = {**friend, "name": "Mia", "height": 2, "friends": [friend]}
    fields = "name born money mood steps height adult floor extra"
    asked = (
        f"mutation ($p: PersonInput!) {{ add(person: $p) {{ {fields} friends {{ {fields} }} }} }}"
    )
    assert await answered(asked, p=person) == {"data": {"add": person}}


async def test_members_of_a_union_are_told_apart() -> None:
    asked = "{ pets { __typename ... on Cat { lives } ... on Dog { tricks } } }"
    assert (await answered(asked))["data"]["pets"] == [
        {"__typename": "Cat", "lives": 9},
        {"__typename": "Dog", "tricks": ["sit"]},
    ]


async def test_a_wrong_value_deep_inside_is_named() -> None:
    person = {
        "name": "Mia",
        "born": "yesterday",
        "money": "1",
        "mood": "odd",
        "steps": 1,
        "extra": {},
    }
    body = await answered("mutation ($p: PersonInput!) { add(person: $p) { name } }", p=person)
    paths = [one["path"] for one in body["errors"][0]["extensions"]["errors"]]
    assert paths == ["person.born", "person.mood"]


@pytest.mark.parametrize(
    ("field", "value"), [("steps", True), ("steps", "1"), ("steps", 1.5), ("height", "2")]
)
async def test_a_number_that_rest_refuses_is_refused(field: str, value: Any) -> None:
    person = {"name": "Mia", "born": "2001-02-03", "money": "1", "mood": "good", "steps": 1}
    sent = {**person, "extra": {}, field: value}
    with pytest.raises(ValidationError):
        TypeAdapter(Person).validate_json(orjson.dumps(sent), strict=True)
    body = await answered("mutation ($p: PersonInput!) { add(person: $p) { name } }", p=sent)
    (error,) = body["errors"]
    assert field in str(error)


def test_two_types_of_one_name_are_refused() -> None:
    other = type("Cat", (Payload,), {"__annotations__": {"size": "int"}})

    class Confused(Service):
        @query("/cats", allow=anyone)
        async def cats(self) -> list[Cat]: ...

    cats = Confused.operations["cats"]
    Confused.operations["others"] = replace(cats, name="others", result=other)
    with pytest.raises(DeclarationError, match="Cat"):
        build_schema(Confused)
