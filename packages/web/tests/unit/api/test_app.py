"""Services, pages and endpoints of one application."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from keyfold.errors import DeclarationError, KeyfoldError
from keyfold_engine.clock import ManualClock
from keyfold_web import Identity, Service
from keyfold_web.app import ApiSettings, create_app
from keyfold_web.ratelimit import RateLimit


def client_of(app: Any) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://localhost")


@pytest.fixture
async def site(clubs: Service) -> AsyncIterator[httpx.AsyncClient]:
    people = {"Clubs": [Identity.of("mia"), Identity.of("root", "admin")]}
    async with client_of(
        create_app([clubs], ApiSettings(development=True, people=people))
    ) as client:
        yield client


async def signed_in(site: httpx.AsyncClient, user: str, *groups: str) -> dict[str, str]:
    answer = await site.post("/sign-in", json={"user": user, "groups": groups})
    return {"authorization": f"Bearer {answer.json()['token']}"}


PAGES = ("/", "/clubs/docs", "/clubs/graphql")


def linked(page: httpx.Response) -> list[str]:
    """What a page links to and loads, as a browser on it would ask for it."""
    links = re.findall(r'(?:src|href|spec-url|data-openapi)="([^"]+)"', page.text)
    return [str(page.url.join(link)) for link in links if not link.startswith("data:")]


async def test_the_index_links_to_pages_that_exist(site: httpx.AsyncClient) -> None:
    links = linked(await site.get("/"))
    names = ("docs", "graphql", "openapi.json")
    assert {f"http://localhost/clubs/{name}" for name in names} <= set(links)
    for link in links:
        assert (await site.get(link)).status_code == 200, link


async def test_pages_work_under_a_prefix(clubs: Service) -> None:
    outer = Starlette(routes=[Mount("/api", create_app([clubs], ApiSettings(development=True)))])
    async with client_of(outer) as client:
        for path in PAGES:
            page = await client.get(f"/api{path}")
            assert linked(page)
            for link in linked(page):
                assert (await client.get(link)).status_code == 200, f"{path}: {link}"


async def test_pages_load_nothing_from_elsewhere(site: httpx.AsyncClient) -> None:
    for page in PAGES:
        answer = await site.get(page)
        assert answer.headers["content-security-policy"].startswith("default-src 'self'")
        for link in linked(answer):
            assert link.startswith("http://localhost/")
            assert (await site.get(link)).status_code == 200, link


async def test_a_demo_user_signs_in_and_uses_rest_and_graphql(site: httpx.AsyncClient) -> None:
    headers = await signed_in(site, "mia")
    posts = await site.get("/clubs/clubs/chess/posts?limit=2", headers=headers)
    assert posts.json()["next"].startswith("/clubs/clubs/chess/posts?limit=2&cursor=")
    query = {"query": '{ posts(clubId: "chess") { nodes { text } } }'}
    answer = await site.post("/clubs/graphql", json=query, headers=headers)
    assert len(answer.json()["data"]["posts"]["nodes"]) == 5


async def test_sign_in_exists_in_development_only(clubs: Service) -> None:
    async with client_of(create_app([clubs])) as client:
        assert (await client.post("/sign-in", json={"user": "mia"})).status_code == 404
        headers = {"authorization": "Bearer x"}
        assert (await client.get("/clubs/clubs/chess", headers=headers)).status_code == 401


async def test_every_answer_has_a_request_id_and_problems_name_it(site: httpx.AsyncClient) -> None:
    lost = await site.get("/clubs/clubs/go", headers={"x-request-id": "from-the-proxy-1"})
    assert lost.headers["x-request-id"] == "from-the-proxy-1"
    assert lost.json()["instance"] == "from-the-proxy-1"
    odd = await site.get("/health", headers={"x-request-id": "<script>"})
    assert odd.headers["x-request-id"] != "<script>"


async def test_metrics_count_each_operation_by_surface_and_code(site: httpx.AsyncClient) -> None:
    await site.get("/clubs/clubs/chess")
    await site.get("/clubs/clubs/go")
    await site.post("/clubs/graphql", json={"query": '{ club(clubId: "chess") { title } }'})
    text = (await site.get("/metrics")).text
    labels = 'service="clubs",operation="club"'
    name = "keyfold_operation_requests_total"
    assert f'{name}{{{labels},surface="rest",code="OK"}} 1' in text
    assert f'{name}{{{labels},surface="rest",code="NOT_FOUND"}} 1' in text
    assert f'{name}{{{labels},surface="graphql",code="OK"}} 1' in text
    assert f'keyfold_operation_seconds_count{{{labels},surface="rest"}} 2' in text


async def test_a_caller_over_the_rate_limit_waits_and_others_do_not(clubs: Service) -> None:
    clock = ManualClock()
    limit = RateLimit(per_second=1, burst=2, clock=clock)
    async with client_of(create_app([clubs], ApiSettings(development=True, limit=limit))) as client:
        mia, olga = await signed_in(client, "mia"), await signed_in(client, "olga")

        async def status(headers: dict[str, str]) -> int:
            return (await client.get("/clubs/clubs/chess", headers=headers)).status_code

        assert [await status(mia) for _ in range(3)] == [200, 200, 429]
        assert await status(olga) == 200
        clock.advance(1)
        assert [await status(mia) for _ in range(2)] == [200, 429]
        refused = await client.get("/clubs/clubs/chess", headers=mia)
        assert refused.headers["retry-after"] == "1"


async def test_services_are_started_and_stopped_with_the_application() -> None:
    events: list[str] = []

    class Quiet(Service):
        async def start(self) -> None:
            events.append("start")

        async def stop(self) -> None:
            events.append("stop")

        async def ready(self) -> bool:
            return False

    app = create_app([Quiet()])
    async with app.router.lifespan_context(app), client_of(app) as client:
        assert (await client.get("/health")).status_code == 200
        assert (await client.get("/ready")).status_code == 503
    assert events == ["start", "stop"]


def test_a_service_cannot_take_the_place_of_a_page() -> None:
    class Odd(Service, name="health"):
        pass

    with pytest.raises(DeclarationError, match="health"):
        create_app([Odd()])


async def test_pages_of_a_known_origin_may_call_from_a_browser(clubs: Service) -> None:
    app = create_app([clubs], ApiSettings(development=True, origins=["https://app.example"]))
    asked = {
        "access-control-request-method": "PUT",
        "access-control-request-headers": "authorization,content-type,if-match,idempotency-key",
    }
    async with client_of(app) as client:
        for path in ("/clubs/clubs/chess/title", "/clubs/graphql"):
            ours = await client.options(path, headers={"origin": "https://app.example", **asked})
            assert ours.status_code == 200
            assert ours.headers["access-control-allow-origin"] == "https://app.example"
            theirs = await client.options(path, headers={"origin": "https://evil.example", **asked})
            assert "access-control-allow-origin" not in theirs.headers
        for path in ("/clubs/clubs/chess", "/clubs/clubs/nothing"):
            read = await client.get(path, headers={"origin": "https://app.example"})
            assert read.headers["access-control-allow-origin"] == "https://app.example"
            assert "etag" in read.headers["access-control-expose-headers"]


async def test_no_other_origin_may_call_unless_told(site: httpx.AsyncClient) -> None:
    answer = await site.get("/clubs/clubs/chess", headers={"origin": "https://app.example"})
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize("origin", ["app.example", "https://app.example/", "ftp://x", "", "null"])
def test_an_origin_has_scheme_and_host_alone(clubs: Service, origin: str) -> None:
    with pytest.raises(KeyfoldError, match="Invalid origin"):
        create_app([clubs], ApiSettings(origins=[origin]))


async def test_a_service_that_cannot_tell_is_not_ready(clubs: Service) -> None:
    async def ready() -> bool:
        raise OSError("the backend is away")

    clubs.ready = ready  # type: ignore[method-assign]
    async with client_of(create_app([clubs])) as client:
        answer = await client.get("/ready")
    assert (answer.status_code, answer.json()) == (503, {"clubs": False})


def test_two_services_of_one_name_are_not_served_together(clubs: Service) -> None:
    with pytest.raises(DeclarationError, match="two services are named clubs"):
        create_app([clubs, clubs])


async def test_calls_with_a_bad_token_are_counted_too(site: httpx.AsyncClient) -> None:
    headers = {"authorization": "Bearer forged"}
    assert (await site.get("/clubs/clubs/chess", headers=headers)).status_code == 401
    counted = (await site.get("/metrics")).text
    assert 'operation="club",surface="rest",code="BAD_TOKEN"} 1' in counted
