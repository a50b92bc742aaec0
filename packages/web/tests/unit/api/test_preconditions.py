"""Entities' own rules and HTTP preconditions, over REST."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated

import httpx
import pytest
from pydantic import Field, model_validator

from keyfold import Counter, Design, Entity, Key, Version
from keyfold_web import Service, anyone, mutation, query
from keyfold_web.dispatch import Dispatch
from keyfold_web.rest import rest_app

design = Design("halls")
table = design.table("halls")


class Hall(Entity, table=table):
    hall_id: str
    full_name: Annotated[str, Field(min_length=1)] = "hall"
    seats: int = 10
    taken_seats: int = 0
    shows: Annotated[int, Counter("Show")] = 0
    version: Annotated[int, Version()] = 0
    key = Key("HALL#{hall_id}", "HALL")

    @model_validator(mode="after")
    def _fits(self) -> Hall:
        if self.taken_seats > self.seats:
            raise ValueError("more seats are taken than there are")
        return self


class Show(Entity, table=table):
    hall_id: str
    show_id: str
    key = Key("HALL#{hall_id}", "SHOW#{show_id}")


class Halls(Service):
    """Halls."""

    @query("/halls/{hall_id}", allow=anyone)
    async def hall(self, hall_id: str) -> Hall:
        """A hall."""
        return await self.db.get(Hall.key(hall_id=hall_id))

    @query("/shows/{show_id}", allow=anyone)
    async def show(self, show_id: str) -> Show:
        """A show."""
        return Show(hall_id="h", show_id=show_id)

    @mutation("/halls", allow=anyone, status=201)
    async def build(self, hall_id: str, name: str) -> Hall:
        """Build a hall."""
        return await self.db.create(Hall(hall_id=hall_id, full_name=name))

    @mutation("/halls/{hall_id}/shows", allow=anyone)
    async def announce(self, hall_id: str, show_id: str) -> None:
        """Announce a show."""
        await self.db.create(Show(hall_id=hall_id, show_id=show_id))

    @mutation("/halls/{hall_id}/taken", allow=anyone)
    async def take(self, hall_id: str, seats: int) -> Hall:
        """Take seats."""
        return await self.db.update(Hall.key(hall_id=hall_id), taken_seats=seats)

    @mutation("/halls/{hall_id}/name", allow=anyone)
    async def rename(self, hall_id: str, name: str, expected_version: int | None) -> Hall:
        """Rename a hall."""
        hall = await self.db.get(Hall.key(hall_id=hall_id))
        known = (
            hall
            if expected_version is None
            else hall.model_copy(update={"version": expected_version})
        )
        return await self.db.update(known, full_name=name)

    @mutation("/halls/{hall_id}", method="DELETE", allow=anyone)
    async def tear_down(self, hall_id: str) -> None:
        """Tear a hall down."""
        await self.db.delete(Hall.key(hall_id=hall_id), must_exist=True)


@pytest.fixture
async def halls() -> AsyncIterator[httpx.AsyncClient]:
    async with await design.open_async(":memory:") as db:
        await db.create(Hall(hall_id="h"))
        app = rest_app(Dispatch(Halls(db)))
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://halls") as client:
            yield client


async def test_an_entity_that_is_refused_inside_an_operation_names_its_field(
    halls: httpx.AsyncClient,
) -> None:
    answer = await halls.post("/halls", json={"hallId": "x", "name": ""})
    assert (answer.status_code, answer.json()["code"]) == (422, "VALUE_REFUSED")
    assert [one["path"] for one in answer.json()["errors"]] == ["fullName"]
    answer = await halls.post("/halls/h/taken", json={"seats": 11})
    assert (answer.status_code, answer.json()["code"]) == (422, "VALUE_REFUSED")
    assert answer.json()["errors"] == [
        {"path": "", "message": "more seats are taken than there are"}
    ]
    answer = await halls.post("/halls/h/name", json={"name": ""})
    assert [one["path"] for one in answer.json()["errors"]] == ["fullName"]
    assert (await halls.get("/halls/h")).json()["takenSeats"] == 0


@pytest.mark.parametrize("header", ["if-match", "if-none-match"])
async def test_a_precondition_that_an_operation_cannot_hold_is_refused(
    halls: httpx.AsyncClient, header: str
) -> None:
    for tag in ('"99"', "*"):
        answer = await halls.delete("/halls/h", headers={header: tag})
        assert (answer.status_code, answer.json()["code"]) == (400, "PRECONDITION_UNSUPPORTED")
    assert (await halls.get("/halls/h")).status_code == 200


async def test_if_match_holds_where_a_version_is_taken_and_where_one_is_served(
    halls: httpx.AsyncClient,
) -> None:
    tag = (await halls.get("/halls/h")).headers["etag"]
    stale = await halls.post("/halls/h/name", json={"name": "x"}, headers={"if-match": '"7"'})
    assert stale.status_code == 412
    renamed = await halls.post("/halls/h/name", json={"name": "x"}, headers={"if-match": tag})
    assert renamed.status_code == 200
    assert (await halls.get("/halls/h", headers={"if-match": tag})).status_code == 412
    now = renamed.headers["etag"]
    assert (await halls.get("/halls/h", headers={"if-match": now})).status_code == 200
    assert (await halls.get("/halls/h", headers={"if-match": "*"})).status_code == 200
    assert (await halls.get("/shows/s", headers={"if-match": now})).status_code == 412


async def test_what_is_counted_meanwhile_is_another_answer(halls: httpx.AsyncClient) -> None:
    first = await halls.get("/halls/h")
    same = await halls.get("/halls/h", headers={"if-none-match": first.headers["etag"]})
    assert same.status_code == 304
    await halls.post("/halls/h/shows", json={"showId": "s"})
    more = await halls.get("/halls/h", headers={"if-none-match": first.headers["etag"]})
    assert (more.status_code, more.json()["shows"]) == (200, 1)
    tag = first.headers["etag"]
    renamed = await halls.post("/halls/h/name", json={"name": "x"}, headers={"if-match": tag})
    assert renamed.status_code == 200, "what is counted is no edit"
