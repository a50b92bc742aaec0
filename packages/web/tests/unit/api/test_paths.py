"""Operations are found by their paths."""

from __future__ import annotations

import json

import httpx
import pytest

from keyfold_web import Service, anyone, query
from keyfold_web.app import create_app
from keyfold_web.lambdas import LambdaHandler


async def test_what_is_no_operation_is_refused_as_http_does(clubs: Service) -> None:
    transport = httpx.ASGITransport(create_app([clubs]))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        assert (await client.get("/clubs/clubs/chess")).status_code == 200
        head = await client.head("/clubs/clubs/chess")
        assert (head.status_code, head.headers["etag"]) == (200, '"3"')
        wrong_verb = await client.post("/clubs/clubs/newest")
        assert wrong_verb.status_code == 405
        assert set(wrong_verb.headers["allow"].split(", ")) == {"DELETE", "GET", "HEAD"}
        assert (await client.get("/clubs/clubs//posts")).status_code == 404


class Days(Service):
    """Days."""

    @query("/days/{day}", allow=anyone)
    async def day(self, day: str) -> str:
        """One day."""
        return f"day {day}"

    @query("/days/{first}-{last}", allow=anyone)
    async def days(self, first: str, last: str) -> str:
        """Some days."""
        return f"days {first} to {last}"

    @query("/days/today", allow=anyone)
    async def today(self) -> str:
        """Today."""
        return "today"


@pytest.mark.parametrize(
    ("path", "answer"),
    [("today", "today"), ("1-2", "days 1 to 2"), ("monday", "day monday"), ("-", "day -")],
)
async def test_the_narrower_path_wins_wherever_it_is_asked(path: str, answer: str) -> None:
    transport = httpx.ASGITransport(create_app([Days()]))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        assert (await client.get(f"/days/days/{path}")).json() == answer

    async def opened() -> Service:
        return Days()

    event = {"rawPath": f"/days/{path}", "requestContext": {"http": {"method": "GET"}}}
    made = await LambdaHandler(Days, opened).answer({**event, "rawQueryString": ""})
    assert json.loads(made["body"]) == answer
