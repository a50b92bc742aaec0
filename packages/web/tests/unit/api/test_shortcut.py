"""Operations found by their paths, as Starlette's router would find them."""

from __future__ import annotations

import json

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.routing import Match, Route
from starlette.types import Receive, Scope, Send

from keyfold_web import Service, anyone, query
from keyfold_web.app import create_app
from keyfold_web.lambdas import LambdaHandler
from keyfold_web.shortcut import Paths

TEMPLATES = [
    ("GET", "/clubs"),
    ("POST", "/clubs"),
    ("GET", "/clubs/newest"),
    ("GET", "/clubs/{clubId}"),
    ("DELETE", "/clubs/{clubId}"),
    ("GET", "/clubs/{clubId}/posts"),
    ("GET", "/clubs/{clubId}/posts/{postId}"),
]


class Named:
    """Stands for an operation."""

    def __init__(self, path: str) -> None:
        self.path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None: ...


APPS = [(verb, path, Named(path)) for verb, path in TEMPLATES]
ROUTES = [Route(path, app, methods=[verb]) for verb, path, app in APPS]
PATHS = Paths()
for verb, path, app in APPS:
    PATHS.add(verb, path, app)

segments = st.sampled_from(["clubs", "newest", "posts", "", "x", "é", "a b", "{clubId}"])
paths = st.lists(segments, max_size=6).map(lambda parts: "/" + "/".join(parts))


@given(st.sampled_from(["GET", "POST", "DELETE", "PUT"]), paths)
def test_every_path_leads_where_the_router_would_lead(verb: str, path: str) -> None:
    scope = {"type": "http", "method": verb, "path": path, "root_path": ""}
    matches = [(route, *route.matches(scope)) for route in ROUTES]
    full = [
        (route.endpoint, more["path_params"]) for route, kind, more in matches if kind is Match.FULL
    ]
    assert PATHS.find(verb, path) == (full[0] if full else None)


async def test_what_is_no_operation_goes_the_long_way(clubs: Service) -> None:
    transport = httpx.ASGITransport(create_app([clubs]))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        assert (await client.get("/clubs/clubs/chess")).status_code == 200
        head = await client.head("/clubs/clubs/chess")
        assert (head.status_code, head.headers["etag"]) == (200, '"3"')
        wrong_verb = await client.post("/clubs/clubs/newest")
        assert wrong_verb.status_code == 405
        assert set(wrong_verb.headers["allow"].split(", ")) == {"DELETE", "GET", "HEAD"}
        assert (await client.get("/clubs/clubs//posts")).status_code == 404


def test_a_segment_with_more_than_a_placeholder_is_left_to_the_router() -> None:
    known = Paths()
    known.add("GET", "/clubs/{clubId}.json", Named("json"))
    known.add("GET", "/from/{start}-{end}", Named("range"))
    assert known.find("GET", "/clubs/chess.json") is None
    assert known.find("GET", "/from/1-2") is None


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
