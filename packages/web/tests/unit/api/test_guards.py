"""Pages that tell of a service, and servers that trust their users: who sees them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from keyfold_web import Service
from keyfold_web.app import ApiSettings, create_app
from keyfold_web.development import DevelopmentTokens

PAGES = ("/", "/metrics", "/clubs/docs", "/clubs/graphql", "/clubs/openapi.json")


def client_of(service: Service, settings: ApiSettings, host: str = "api") -> httpx.AsyncClient:
    transport = httpx.ASGITransport(create_app([service], settings))
    return httpx.AsyncClient(transport=transport, base_url=f"http://{host}")


@pytest.mark.parametrize("page", PAGES)
async def test_in_production_pages_are_for_administrators(
    clubs: Any, tokens: DevelopmentTokens, page: str
) -> None:
    async with client_of(clubs, ApiSettings(tokens=tokens)) as client:

        async def seen_by(headers: Mapping[str, str]) -> int:
            return (await client.get(page, headers=headers)).status_code

        assert await seen_by({}) == 401
        assert await seen_by({"authorization": "Bearer nonsense"}) == 401
        user, admin = tokens.issue("mia"), tokens.issue("root", "admin")
        assert await seen_by({"authorization": f"Bearer {user}"}) == 403
        assert await seen_by({"authorization": f"Bearer {admin}"}) == 200
        assert (await client.get(f"{page}/")).status_code in (401, 404)
        assert (await client.get("/health")).status_code == 200
    async with client_of(clubs, ApiSettings(tokens=tokens, open_pages=True)) as client:
        assert (await client.get(page)).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8080", "localhost.evil.example"])
async def test_a_development_server_answers_for_this_machine_only(clubs: Any, host: str) -> None:
    settings = ApiSettings(development=True)
    wanted = {"user": "root", "groups": ["admin"]}
    async with client_of(clubs, settings, host) as client:
        answer = await client.post("/sign-in", json=wanted)
        assert (answer.status_code, answer.json()["code"]) == (421, "WRONG_HOST")
        assert "token" not in answer.json()
        assert (await client.get("/")).status_code == 421


@pytest.mark.parametrize("host", ["localhost", "localhost:8080", "127.0.0.1:1", "[::1]:8080"])
async def test_the_machine_has_its_names(clubs: Any, host: str) -> None:
    async with client_of(clubs, ApiSettings(development=True), host) as client:
        answer = await client.post("/sign-in", json={"user": "mia"})
        assert answer.status_code == 200
