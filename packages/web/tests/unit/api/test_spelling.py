"""REST and GraphQL give and take the same: names, nested models, computed fields, null."""

from __future__ import annotations

from collections.abc import AsyncIterator
from decimal import Decimal
from enum import Enum, StrEnum
from typing import Annotated, Any, ClassVar

import httpx
import pytest
from pydantic import BaseModel, Field, computed_field

from keyfold import Design, Entity, Key
from keyfold.errors import DeclarationError
from keyfold_web import (
    Payload,
    Service,
    anyone,
    cleared,
    mutation,
    query,
    related,
    unchanged,
)
from keyfold_web.app import ApiSettings, create_app
from keyfold_web.graphql import build_schema, limits
from keyfold_web.openapi import openapi_document

design = Design("houses")
table = design.table("Houses")


class PostalAddress(Payload):
    street_name: str
    zip_code: str


class Person(Entity, table=table):
    """Somebody."""

    person_id: str
    full_name: str
    key = Key("PERSON#{person_id}", "PERSON")


class State(StrEnum):
    FOR_SALE = "for_sale"
    SOLD = "sold"


class House(Entity, table=table):
    house_id: str
    state: State = State.FOR_SALE
    owner_id: str | None = None
    guest_ids: set[str] = set()
    built_at: PostalAddress
    old_places: list[PostalAddress] = []
    room_prices: list[Decimal] = []
    nick_name: str | None = None
    note: str = "Quiet"
    title: str
    key = Key("HOUSE#{house_id}", "HOUSE")

    @computed_field  # type: ignore[prop-decorator]
    @property
    def total_price(self) -> Decimal:
        """What all rooms cost."""
        return sum(self.room_prices, Decimal(0))


class HouseChange(Payload):
    """What changes; what is left out stays, null takes away."""

    title: Annotated[str, Field(min_length=1)] = unchanged()
    nick_name: str | None = None
    note: str | None = cleared("")
    built_at: PostalAddress = unchanged()
    state: State = unchanged()


class Houses(Service):
    design: ClassVar[Design] = design

    @related(House)
    async def owner(self, parents: list[House]) -> list[Person | None]:
        known = [one.owner_id for one in parents if one.owner_id]
        found = await self.db.get_many([Person.key(person_id=one) for one in known])
        owners = dict(zip(known, found, strict=True))
        return [owners.get(one.owner_id or "") for one in parents]

    @related(House)
    async def guests(self, parents: list[House]) -> list[list[Person]]:
        return [
            [found for found in await self.db.get_many(refs) if found is not None]
            for refs in (
                [Person.key(person_id=guest) for guest in sorted(one.guest_ids)] for one in parents
            )
        ]

    @query("/houses/{house_id}", allow=anyone)
    async def house(self, house_id: str) -> House:
        return await self.db.get(House.key(house_id=house_id))

    @query("/streets/{name}", allow=anyone)
    async def street(self, name: str) -> list[House]:
        found = await self.db.get_many([House.key(house_id=f"h{n}") for n in range(3)])
        return [one for one in found if one is not None]

    @mutation("/houses/{house_id}", method="PATCH", allow=anyone)
    async def change_house(self, house_id: str, input: HouseChange) -> House:
        return await self.db.update(House.key(house_id=house_id), **input.given())


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    async with await design.open_async(":memory:") as db:
        for who in ("ada", "ben", "cleo"):
            await db.create(Person(person_id=who, full_name=who.title()))
        place = PostalAddress(street_name="Elm St", zip_code="1")
        for number in range(3):
            await db.create(
                House(
                    house_id=f"h{number}",
                    owner_id=None if number == 2 else "ada",
                    guest_ids={"ben", "cleo", "gone"} if number == 0 else set(),
                    built_at=place,
                    old_places=[place],
                    room_prices=[Decimal("1.5"), Decimal(2)],
                    nick_name="The old one",
                    title="House",
                )
            )
        app = create_app([Houses(db)], ApiSettings(development=True))
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            yield client


async def asked(client: httpx.AsyncClient, query: str, **variables: Any) -> Any:
    body = {"query": query, "variables": variables}
    answer = (await client.post("/houses/graphql", json=body)).json()
    assert "errors" not in answer, answer["errors"]
    return answer["data"]


EVERYTHING = """{ house(houseId: "h0") {
  houseId ownerId guestIds builtAt { streetName zipCode } oldPlaces { streetName zipCode }
  roomPrices nickName note title totalPrice state } }"""


async def test_both_give_the_same_fields_in_the_same_spelling(client: httpx.AsyncClient) -> None:
    rest = (await client.get("/houses/houses/h0")).json()
    found = (await asked(client, EVERYTHING))["house"]
    for one in (rest, found):
        one["guestIds"].sort()
    assert found == rest
    assert rest["builtAt"] == {"streetName": "Elm St", "zipCode": "1"}
    assert rest["totalPrice"] == "3.5"


def test_every_field_of_every_answer_has_one_name() -> None:
    schema = build_schema(Houses)
    schemas = openapi_document(Houses)["components"]["schemas"]
    related_fields = {"House": {"owner", "guests"}}
    for name in ("House", "PostalAddress"):
        described = next(v for k, v in schemas.items() if k in (name, f"{name}-Output"))
        own = set(schema.type_map[name].fields) - related_fields.get(name, set())  # type: ignore[attr-defined]
        assert own == set(described["properties"])


CHANGE = """mutation ($input: HouseChangeInput!) {
  changeHouse(houseId: "h1", input: $input) { title nickName note state builtAt { zipCode } } }"""


@pytest.mark.parametrize("surface", ["rest", "graphql"])
async def test_null_takes_away_and_what_is_left_out_stays(
    client: httpx.AsyncClient, surface: str
) -> None:
    async def change(**values: Any) -> Any:
        if surface == "graphql":
            return (await asked(client, CHANGE, input=values))["changeHouse"]
        return (await client.patch("/houses/houses/h1", json=values)).json()

    kept = await change(title="New")
    assert (kept["title"], kept["nickName"], kept["note"]) == ("New", "The old one", "Quiet")
    less = await change(nickName=None, note=None, builtAt={"streetName": "Oak", "zipCode": "2"})
    assert (less["title"], less["nickName"], less["note"]) == ("New", None, "")
    assert less["builtAt"]["zipCode"] == "2"
    assert (await change(state="sold"))["state"] == "sold"


class Size(Enum):
    LARGE = "x-large"
    SMALL = 1
    MIDDLE = "medium"


def test_a_value_that_graphql_cannot_spell_has_the_name_of_its_member() -> None:
    class Sizes(Service):
        @query("/size", allow=anyone)
        async def size(self) -> Size:
            raise AssertionError("not called")

    found = build_schema(Sizes).type_map["Size"]
    assert set(found.values) == {"LARGE", "SMALL", "medium"}  # type: ignore[attr-defined]


async def test_null_for_what_cannot_be_taken_away_is_refused(client: httpx.AsyncClient) -> None:
    answer = await client.patch("/houses/houses/h1", json={"title": None})
    assert answer.status_code == 422
    (problem,) = answer.json()["errors"]
    assert problem == {"path": "title", "message": "must not be null"}
    body = {"query": CHANGE, "variables": {"input": {"title": None}}}
    (error,) = (await client.post("/houses/graphql", json=body)).json()["errors"]
    assert error["extensions"]["errors"] == [problem | {"path": "input.title"}]


def test_documents_show_no_default_of_what_stays_when_it_is_left_out() -> None:
    fields = openapi_document(Houses)["components"]["schemas"]["HouseChange"]["properties"]
    assert [name for name, one in fields.items() if "default" in one] == ["nickName"]


async def test_relations_are_loaded_once_for_a_whole_answer(client: httpx.AsyncClient) -> None:
    query = """{ street(name: "Elm") { houseId owner { fullName } guests { fullName } } }"""
    found = (await asked(client, query))["street"]
    assert [one["owner"] for one in found] == [{"fullName": "Ada"}, {"fullName": "Ada"}, None]
    guests = [[each["fullName"] for each in one["guests"]] for one in found]
    assert guests == [["Ben", "Cleo"], [], []]
    metrics = (await client.get("/metrics")).text
    units = 'keyfold_operation_consumed_units_total{service="houses",operation="House.owner"'
    assert f'{units},kind="read"}} 1\n' in metrics


async def test_more_relations_than_a_request_may_read_are_refused(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("keyfold_web.graphql.schema.RELATED_PARENTS", 2)
    body = {"query": '{ street(name: "Elm") { owner { fullName } } }'}
    answer = (await client.post("/houses/graphql", json=body)).json()
    assert answer["errors"][0]["extensions"]["code"] == limits.QueryRefused.default_code


class Bare(BaseModel):
    zip_code: str


class Where(Payload):
    place: Bare


def test_a_nested_model_without_public_names_is_refused() -> None:
    class Places(Service):
        @query("/place", allow=anyone)
        async def place(self) -> Where:
            raise AssertionError("not called")

    with pytest.raises(DeclarationError, match="zip_code has no public name"):
        build_schema(Places)
