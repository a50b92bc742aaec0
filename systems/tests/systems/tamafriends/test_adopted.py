"""A table that the author's code has filled, in the document's layout, is taken over as it is."""

from __future__ import annotations

from typing import Any

import pytest
from tests.systems.author import Author, by_key

from keyfold.maintain import repairing, verification
from keyfold.streams import AsyncConsumer

from .conftest import World, account

AT = "2025-10-11T09:30:00.250Z"
POST_SK = f"POST#{AT}#p1"


def profile(user: str, followers: int, following: int) -> dict[str, Any]:
    own = account(user) | {"userId": user, "followerCount": followers, "followingCount": following}
    return own | {
        "PK": f"USER#{user}",
        "SK": "PROFILE",
        "GSI1PK": f"EMAIL#{own['email']}",
        "GSI1SK": f"USER#{user}",
        "GSI2PK": f"USERNAME#{own['username']}",
        "GSI2SK": f"USER#{user}",
        "GSI3PK": f"HANDLE#{own['handle']}",
        "GSI3SK": f"USER#{user}",
        "createdAt": AT,
        "favouriteSnack": "melon",  # nothing that we know of
    }


def follow(follower: str, followee: str) -> dict[str, Any]:
    return {
        "PK": f"USER#{follower}",
        "SK": f"FOLLOW#{followee}",
        "GSI1PK": f"USER#{followee}",
        "GSI1SK": f"FOLLOWER#{follower}",
        "GSI2PK": f"USER#{followee}",
        "GSI2SK": f"FOLLOW#{follower}",
    }


def reaction(user: str, sort: str, gsi2: str, **more: Any) -> dict[str, Any]:
    own = {"postId": "p1", "userId": user, "postUserId": "ana", "postSK": POST_SK, "createdAt": AT}
    keys = {"PK": "POST#p1", "SK": sort, "GSI2PK": f"USER#{user}", "GSI2SK": gsi2}
    return own | keys | more


ITEMS = [
    profile("ana", 2, 0),
    profile("ben", 0, 1),
    profile("cleo", 0, 1),
    follow("ben", "ana"),
    follow("cleo", "ana"),
    {
        "PK": "USER#ana",
        "SK": POST_SK,
        "GSI1PK": "POST#p1",
        "GSI1SK": "USER#ana",
        "userId": "ana",
        "postId": "p1",
        "text": "Hatched!",
        "createdAt": AT,
        "likeCount": 2,
        "commentCount": 1,
    },
    reaction("ben", "LIKE#ben", "LIKE#p1"),
    reaction("cleo", "LIKE#cleo", "LIKE#p1"),
    reaction(
        "ben",
        f"COMMENT#{AT}#c1",
        f"COMMENT#{AT}#c1",
        commentId="c1",
        text="At last!",
        GSI1PK="COMMENT#c1",
        GSI1SK="POST#p1",
    ),
]
TYPES = {
    "PROFILE": "USER_PROFILE",
    "FOLLOW": "FOLLOW",
    "POST": "POST",
    "LIKE": "LIKE",
    "COMMENT": "COMMENT",
}


def typed(item: dict[str, Any]) -> dict[str, Any]:
    return item | {"type": TYPES[item["SK"].split("#")[0]]}


@pytest.fixture
def old(author: Author) -> list[dict[str, Any]]:
    """The author's table."""
    items = [typed(item) for item in ITEMS]
    author.create_table(items)
    return items


@pytest.fixture
async def adopted(old: list[dict[str, Any]], world: World) -> World:
    """Taken over: the stream is read from now on, and the claims of unique names are written."""
    await AsyncConsumer(world.db).skip()
    found = (await world.db.run(verification(world.db.context))).drifts
    await world.db.run(repairing(world.db.context, found))
    return world


async def test_no_item_is_rewritten(
    old: list[dict[str, Any]], adopted: World, author: Author
) -> None:
    now = by_key(author.items())
    changed = {key: (item, now.get(key)) for key, item in by_key(old).items() if item != now[key]}
    assert changed == {}


async def test_every_read_finds_what_was_there(adopted: World) -> None:
    assert (await adopted.do("root", "GET", "/logins/email/ana@example.com"))["userId"] == "ana"
    assert (await adopted.do("root", "GET", "/logins/username/ana.name"))["userId"] == "ana"
    assert (await adopted.do("", "GET", "/handles/ana"))["followerCount"] == 2
    assert (await adopted.do("", "GET", "/posts/p1"))["likeCount"] == 2
    assert (await adopted.do("", "GET", "/comments/c1"))["text"] == "At last!"
    lists = {
        "/users/ana/posts": 1,
        "/users/ana/followers": 2,
        "/users/ben/following": 1,
        "/users/ben/comments": 1,
        "/users/ben/likes": 1,
        "/posts/p1/comments": 1,
    }
    found = {path: len((await adopted.do("ana", "GET", path))["items"]) for path in lists}
    assert found == lists


async def test_old_items_are_counted_down_and_new_ones_up(adopted: World) -> None:
    await adopted.do("ben", "DELETE", "/posts/p1/likes/me")
    await adopted.do("cleo", "DELETE", "/users/ana/followers/me")
    await adopted.do("cleo", "POST", "/posts/p1/comments", {"text": "So small."})
    await adopted.settle()
    post = await adopted.do("", "GET", "/posts/p1")
    assert (post["likeCount"], post["commentCount"]) == (1, 2)
    assert (await adopted.do("", "GET", "/users/ana"))["followerCount"] == 1
    assert await adopted.drifts() == []


async def test_an_edit_keeps_what_we_do_not_know(adopted: World, author: Author) -> None:
    await adopted.do("ana", "PATCH", "/users/ana", {"bio": "Two hens."})
    [item] = author.query("GSI1", "EMAIL#ana@example.com")
    assert (item["bio"], item["favouriteSnack"]) == ("Two hens.", "melon")


async def test_names_that_were_there_are_taken(adopted: World) -> None:
    taken = await adopted.call("dora", "POST", "/profiles", account("dora") | {"handle": "ana"})
    assert (taken.status_code, taken.json()["code"]) == (409, "TAKEN")


async def test_the_authors_code_goes_on_writing(adopted: World, author: Author) -> None:
    """A like and a follow that boto3 writes are counted like ours."""
    author.table.put_item(Item=typed(reaction("ana", "LIKE#ana", "LIKE#p1")))
    author.table.put_item(Item=typed(follow("ana", "ben")))
    await adopted.settle()
    assert (await adopted.do("", "GET", "/posts/p1"))["likeCount"] == 3
    assert (await adopted.do("", "GET", "/users/ben"))["followerCount"] == 1
    assert await adopted.drifts() == []
