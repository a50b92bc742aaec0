"""Who may do what: 401 without an identity, 403 with the wrong one, for each mutation."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from keyfold.serve.app import Settings, create_app
from keyfold.serve.auth import DevelopmentTokens
from tests.systems.opening import LATER

from .conftest import OMAR, YUKI, World

pytestmark = LATER
LENA, STRANGER = "lena", "stranger"

MUTATIONS: dict[str, tuple[str, str, Any, str]] = {
    "editProfile": ("PATCH", "/users/yuki", {"bio": "B"}, LENA),
    "deleteAccount": ("DELETE", "/users/yuki", None, LENA),
    "createPost": ("POST", "/posts", {"text": "T"}, STRANGER),
    "editPost": ("PATCH", "/posts/{post}", {"text": "T"}, LENA),
    "deletePost": ("DELETE", "/posts/{post}", None, LENA),
    "like": ("POST", "/posts/{post}/likes", None, STRANGER),
    "unlike": ("DELETE", "/posts/{post}/likes/mine", None, STRANGER),
    "comment": ("POST", "/posts/{post}/comments", {"text": "T"}, STRANGER),
    "deleteComment": ("DELETE", "/comments/{comment}", None, LENA),
    "follow": ("POST", "/users/yuki/following", {"followeeId": "omar"}, LENA),
    "unfollow": ("DELETE", "/users/yuki/following/omar", None, LENA),
    "block": ("POST", "/users/yuki/blocks", {"blockedId": "omar"}, LENA),
    "unblock": ("DELETE", "/users/yuki/blocks/omar", None, LENA),
}
FOR_ANYBODY = {"signUp", "signIn"}
QUERIES = [
    "/users/yuki",
    "/handles/yuki",
    "/posts/{post}",
    "/users/yuki/posts",
    "/posts/{post}/likes",
    "/posts/{post}/comments",
    "/comments/{comment}",
    "/users/yuki/comments",
    "/users/yuki/followers",
    "/users/yuki/following",
]
QUERIES_OF_ONES_OWN = ["/users/yuki/account", "/users/yuki/likes"]


@pytest.fixture
def tokens() -> DevelopmentTokens:
    return DevelopmentTokens()


@pytest.fixture
def http(world: World, tokens: DevelopmentTokens) -> httpx.AsyncClient:
    app = create_app([world.service], Settings(development=True, tokens=tokens))
    base = f"http://test/{world.service.name}"
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=base)


@pytest.fixture
async def ids(world: World) -> dict[str, str]:
    post = await world.post(YUKI)
    said = await world.comment(OMAR, post)
    return {"post": post.post_id, "comment": said.comment_id}


def test_the_matrix_has_every_operation(world: World) -> None:
    operations = world.service.operations.values()
    mutations = {one.name for one in operations if one.kind == "mutation"}
    assert mutations == set(MUTATIONS) | FOR_ANYBODY
    queries = len(operations) - len(mutations)
    assert queries == len(QUERIES) + len(QUERIES_OF_ONES_OWN)


@pytest.mark.parametrize("name", MUTATIONS)
async def test_a_mutation_answers_401_without_and_403_with_the_wrong_identity(
    name: str, http: httpx.AsyncClient, tokens: DevelopmentTokens, ids: dict[str, str]
) -> None:
    method, path, body, wrong = MUTATIONS[name]
    request: dict[str, Any] = {"json": body} if body is not None else {}
    url = path.format(**ids)
    assert (await http.request(method, url, **request)).status_code == 401
    forged = {"authorization": f"Bearer {DevelopmentTokens().issue('yuki')}"}
    assert (await http.request(method, url, headers=forged, **request)).status_code == 401
    headers = {"authorization": f"Bearer {tokens.issue(wrong)}"}
    refused = await http.request(method, url, headers=headers, **request)
    assert refused.status_code == 403, refused.text


@pytest.mark.parametrize("path", [*QUERIES, *QUERIES_OF_ONES_OWN])
async def test_nothing_is_shown_without_an_identity_and_ones_own_to_nobody_else(
    path: str, http: httpx.AsyncClient, tokens: DevelopmentTokens, ids: dict[str, str]
) -> None:
    url = path.format(**ids)
    assert (await http.get(url)).status_code == 401
    headers = {"authorization": f"Bearer {tokens.issue(LENA)}"}
    expected = 403 if path in QUERIES_OF_ONES_OWN else 200
    assert (await http.get(url, headers=headers)).status_code == expected


async def test_nobody_posts_as_another(
    world: World, http: httpx.AsyncClient, tokens: DevelopmentTokens
) -> None:
    headers = {"authorization": f"Bearer {tokens.issue(LENA)}"}
    posed = await http.post("/posts", json={"text": "T", "userId": "yuki"}, headers=headers)
    assert posed.status_code == 422, posed.text
    made = await http.post("/posts", json={"text": "T"}, headers=headers)
    assert made.json()["userId"] == LENA


async def test_a_blocked_user_is_told_so(
    world: World, http: httpx.AsyncClient, tokens: DevelopmentTokens
) -> None:
    await world.service.block("yuki", LENA)
    headers = {"authorization": f"Bearer {tokens.issue(LENA)}"}
    refused = await http.post("/users/lena/following", json={"followeeId": "yuki"}, headers=headers)
    assert (refused.status_code, refused.json()["code"]) == (403, "BLOCKED")


async def test_editing_what_is_not_there_is_404(
    http: httpx.AsyncClient, tokens: DevelopmentTokens
) -> None:
    headers = {"authorization": f"Bearer {tokens.issue(LENA)}"}
    answer = await http.patch("/posts/none", json={"text": "T"}, headers=headers)
    assert answer.status_code == 404
