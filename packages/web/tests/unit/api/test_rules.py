"""Who may call what."""

from __future__ import annotations

import httpx
import pytest

MATRIX = {
    ("GET", "/clubs/chess"): "200 200 200 200 200",
    ("POST", "/clubs"): "401 201 201 201 201",
    ("PUT", "/clubs/chess/title"): "401 403 403 200 200",
    ("DELETE", "/clubs/chess"): "401 403 403 204 403",
    ("POST", "/clubs/chess/members/stranger"): "401 204 403 403 204",
    ("GET", "/clubs/chess/posts"): "401 403 200 200 403",
    ("POST", "/clubs/chess/posts"): "401 403 201 201 403",
}
BODIES: dict[str, dict[str, str]] = {
    "/clubs": {"title": "Go"},
    "/clubs/chess/title": {"title": "Go"},
    "/clubs/chess/posts": {"text": "Go"},
}
CASES = [
    (method, url, who, int(status))
    for (method, url), statuses in MATRIX.items()
    for who, status in zip(
        ("anonymous", "stranger", "mia", "olga", "root"), statuses.split(), strict=True
    )
]


@pytest.mark.parametrize(("method", "url", "who", "status"), CASES)
async def test_the_matrix_of_operations_and_callers(
    rest: httpx.AsyncClient,
    people: dict[str, dict[str, str]],
    method: str,
    url: str,
    who: str,
    status: int,
) -> None:
    body = BODIES.get(url) if method in ("POST", "PUT") else None
    answer = await rest.request(method, url, json=body, headers=people[who])
    assert answer.status_code == status


async def test_who_must_sign_in_hears_nothing_about_the_input(rest: httpx.AsyncClient) -> None:
    answer = await rest.post("/clubs", json={"title": 5})
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
