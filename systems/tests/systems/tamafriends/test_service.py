"""The service: names, idempotency, paging, views, REST and GraphQL."""

from __future__ import annotations

from datetime import datetime

import pytest

from keyfold.review.check import check
from keyfold_systems.tamafriends.design import design
from keyfold_systems.tamafriends.entities import Like

from .conftest import World, account


def test_the_design_check_has_nothing_to_report() -> None:
    assert check(design.schema).findings == ()


@pytest.fixture
async def post(world: World) -> str:
    """A post of Ana's, among three users."""
    await world.join("ana", "ben", "cleo")
    return str((await world.do("ana", "POST", "/posts", {"text": "Hello."}))["postId"])


async def test_a_comment_is_deleted_by_its_author_or_that_of_the_post(
    world: World, post: str
) -> None:
    said = [
        (await world.do("ben", "POST", f"/posts/{post}/comments", {"text": "Hm."}))["commentId"]
        for _ in range(2)
    ]
    assert (await world.call("cleo", "DELETE", f"/comments/{said[0]}")).status_code == 403
    await world.do("ben", "DELETE", f"/comments/{said[0]}")
    await world.do("ana", "DELETE", f"/comments/{said[1]}")


async def test_a_taken_name_is_refused_in_any_spelling(world: World) -> None:
    await world.join("ana")
    for field, name in (
        ("email", "ANA@example.com"),
        ("email", "a\u200bna@example.com"),
        ("username", "Ana.Name"),
        ("username", "ana.nam\uff45"),
        ("handle", "ANA"),
        ("handle", "an\u00ada"),
    ):
        answer = await world.call("dora", "POST", "/profiles", account("dora") | {field: name})
        assert (answer.status_code, answer.json()["code"]) == (409, "TAKEN"), field
    assert (await world.do("", "GET", "/handles/@A\u200bNA"))["userId"] == "ana"
    again = await world.call("ana", "POST", "/profiles", account("other"))
    assert (again.status_code, again.json()["code"]) == (409, "PROFILE_EXISTS")


async def test_of_two_edits_of_one_version_the_second_is_refused(world: World) -> None:
    await world.join("ana")
    first = await world.call("ana", "PATCH", "/users/ana", {"bio": "One."}, if_match='"1"')
    late = await world.call("ana", "PATCH", "/users/ana", {"bio": "Two."}, if_match='"1"')
    assert (first.status_code, late.status_code) == (200, 412)


async def test_a_repeated_request_has_one_effect(world: World, post: str) -> None:
    path, text = f"/posts/{post}/comments", {"text": "Once."}
    first = await world.call("ben", "POST", path, text, idempotency_key="k1")
    again = await world.call("ben", "POST", path, text, idempotency_key="k1")
    other = await world.call("ben", "POST", path, {"text": "Twice."}, idempotency_key="k1")
    assert first.json() == again.json()
    assert (other.status_code, other.json()["code"]) == (422, "REQUEST_REUSED")
    assert len((await world.do("", "GET", path))["items"]) == 1


async def test_lists_come_in_pages(world: World, post: str) -> None:
    for number in range(5):
        await world.do("ana", "POST", "/posts", {"text": f"{number}"})
        await world.do("ben", "POST", "/posts", {"text": f"b{number}"})
    for followed in ("ana", "ben"):
        await world.do("cleo", "POST", f"/users/{followed}/followers")
    for path, expected in {"/users/ana/posts": 6, "/users/cleo/wall": 11}.items():
        times, cursor = [], ""
        for _ in range(9):
            page = await world.do("cleo", "GET", f"{path}?limit=2{cursor}")
            times += [datetime.fromisoformat(one["createdAt"]) for one in page["items"]]
            if page["cursor"] is None:
                break
            cursor = f"&cursor={page['cursor']}"
        assert len(times) == expected
        assert times == sorted(times, reverse=True)


async def test_liked_posts_come_with_the_posts(world: World, post: str) -> None:
    await world.do("ben", "POST", f"/posts/{post}/likes")
    [liked] = (await world.do("ben", "GET", "/users/ben/likes"))["items"]
    assert (liked["postId"], liked["author"]["handle"], liked["liked"]) == (post, "ana", True)
    [seen] = (await world.do("", "GET", "/users/ben/likes"))["items"]
    assert seen["liked"] is False


async def test_a_profile_keeps_email_and_user_name_to_itself(world: World, post: str) -> None:
    shown = await world.do("ben", "GET", "/users/ana")
    assert {"email", "username"}.isdisjoint(shown)


async def test_graphql_has_the_same_operations(world: World, post: str) -> None:
    asked = f'''mutation {{ like(postId: "{post}") {{ postUserId }} }}'''
    answer = await world.do("ben", "POST", "/graphql", {"query": asked})
    assert answer["data"] == {"like": {"postUserId": "ana"}}
    assert await world.db.find(Like.key(post_id=post, user_id="ben"))
    await world.settle()
    asked = '{ posts(userId: "ana") { nodes { text likeCount author { handle } } } }'
    answer = await world.do("ben", "POST", "/graphql", {"query": asked})
    [shown] = answer["data"]["posts"]["nodes"]
    assert shown == {"text": "Hello.", "likeCount": 1, "author": {"handle": "ana"}}
