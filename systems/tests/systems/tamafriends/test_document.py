"""The document, statement by statement, through the author's eyes: raw boto3 on our table."""

from __future__ import annotations

from typing import Any

import pytest
from tests.systems.author import Author

from .conftest import World

INDEXES = ("GSI1", "GSI2", "GSI3")


@pytest.fixture
async def life(world: World) -> dict[str, Any]:
    """Three users: Ana posts, Ben and Cleo follow, like and comment."""
    await world.join("ana", "ben", "cleo")
    post = await world.do("ana", "POST", "/posts", {"text": "First egg!"})
    other = await world.do("ben", "POST", "/posts", {"text": "Ours sleeps."})
    for who in ("ben", "cleo"):
        await world.do(who, "POST", "/users/ana/followers")
    await world.do("ana", "POST", "/users/ben/followers")
    said = [
        await world.do("ben", "POST", f"/posts/{post['postId']}/comments", {"text": text})
        for text in ("Look at it!", "It moved.")
    ]
    for one in (post, other):
        await world.do("ben", "POST", f"/posts/{one['postId']}/likes")
    await world.settle()
    return {
        "post": post["postId"],
        "other": other["postId"],
        "said": [c["commentId"] for c in said],
    }


def kinds(items: list[dict[str, Any]]) -> list[str]:
    return [item["type"] for item in items]


class TestGSI1:
    """Reverse lookups."""

    async def test_login_by_email(self, life: Any, author: Author) -> None:
        [item] = author.query("GSI1", "EMAIL#ana@example.com")
        assert (item["type"], item["GSI1SK"], item["userId"]) == ("USER_PROFILE", "USER#ana", "ana")

    async def test_post_by_id(self, life: Any, author: Author) -> None:
        [item] = author.query("GSI1", f"POST#{life['post']}")
        assert (item["type"], item["GSI1SK"], item["text"]) == ("POST", "USER#ana", "First egg!")

    async def test_followers_of_a_user(self, life: Any, author: Author) -> None:
        items = author.query("GSI1", "USER#ana")  # the partition holds nothing else
        assert [(i["type"], i["GSI1SK"]) for i in items] == [
            ("FOLLOW", "FOLLOWER#ben"),
            ("FOLLOW", "FOLLOWER#cleo"),
        ]

    async def test_comment_by_id(self, life: Any, author: Author) -> None:
        [item] = author.query("GSI1", f"COMMENT#{life['said'][0]}")
        assert (item["type"], item["GSI1SK"]) == ("COMMENT", f"POST#{life['post']}")

    async def test_likes_do_not_use_it(self, life: Any, author: Author) -> None:
        likes = [item for item in author.items() if item.get("type") == "LIKE"]
        assert likes
        assert not any("GSI1PK" in item for item in likes)


class TestGSI2:
    """User-centric queries."""

    async def test_login_by_username(self, life: Any, author: Author) -> None:
        [item] = author.query("GSI2", "USERNAME#ana.name")
        assert (item["type"], item["GSI2SK"]) == ("USER_PROFILE", "USER#ana")

    async def test_posts_do_not_need_it(self, life: Any, author: Author) -> None:
        posts = author.query(None, "USER#ana", "POST#")
        assert kinds(posts) == ["POST"]
        assert "GSI2PK" not in posts[0]

    async def test_stream_processor_lookup(self, life: Any, author: Author) -> None:
        items = author.query("GSI2", "USER#ana", "FOLLOW#")
        assert [(i["type"], i["GSI2SK"]) for i in items] == [
            ("FOLLOW", "FOLLOW#ben"),
            ("FOLLOW", "FOLLOW#cleo"),
        ]

    async def test_comments_of_a_user(self, life: Any, author: Author) -> None:
        items = author.query("GSI2", "USER#ben", "COMMENT#", ScanIndexForward=False)
        assert [i["text"] for i in items] == ["It moved.", "Look at it!"]
        for item in items:
            assert item["GSI2SK"] == f"COMMENT#{item['createdAt']}#{item['commentId']}"

    async def test_liked_posts_of_a_user(self, life: Any, author: Author) -> None:
        items = author.query("GSI2", "USER#ben", "LIKE#")
        assert {i["GSI2SK"] for i in items} == {f"LIKE#{life['post']}", f"LIKE#{life['other']}"}

    async def test_a_users_partition_holds_what_the_table_says(
        self, life: Any, author: Author
    ) -> None:
        # Ben: two comments, the follow that Ana has of him, two likes.
        found = kinds(author.query("GSI2", "USER#ben"))
        assert found == ["COMMENT", "COMMENT", "FOLLOW", "LIKE", "LIKE"]


class TestGSI3:
    """Alternative identifiers."""

    async def test_profile_by_handle(self, life: Any, author: Author) -> None:
        [item] = author.query("GSI3", "HANDLE#cleo")
        assert (item["type"], item["GSI3SK"]) == ("USER_PROFILE", "USER#cleo")

    async def test_others_do_not_use_it(self, life: Any, author: Author) -> None:
        used = {item.get("type") for item in author.items() if "GSI3PK" in item}
        assert used == {"USER_PROFILE"}


class TestPrinciples:
    async def test_index_keys_are_there_only_where_the_tables_have_them(
        self, life: Any, author: Author
    ) -> None:
        used = {
            item["type"]: [index for index in INDEXES if f"{index}PK" in item]
            for item in author.items()
        }
        assert {kind: used[kind] for kind in used if kind.isupper()} == {
            "USER_PROFILE": ["GSI1", "GSI2", "GSI3"],
            "POST": ["GSI1"],
            "FOLLOW": ["GSI1", "GSI2"],
            "COMMENT": ["GSI1", "GSI2"],
            "LIKE": ["GSI2"],
        }
        # What we add (claims of unique names, remembered requests) is in no index.
        assert all(used[kind] == [] for kind in used if not kind.isupper())

    async def test_what_we_add_is_in_no_partition_of_the_document(
        self, life: Any, author: Author
    ) -> None:
        ours = {i["PK"].split("#")[0] for i in author.items() if not i["type"].isupper()}
        assert ours.isdisjoint({"USER", "POST", "COMMENT", "EMAIL", "USERNAME", "HANDLE"})


class TestStreamProcessors:
    async def test_likes_and_comments_carry_the_address_of_their_post(
        self, life: Any, author: Author
    ) -> None:
        """As a processor of the author's does it: metadata, then an update of the post."""
        records = [one for one in author.records() if one.get("type") in ("LIKE", "COMMENT")]
        assert len(records) == 4
        for one in records:
            key = {"PK": f"USER#{one['postUserId']}", "SK": one["postSK"]}
            assert author.table.get_item(Key=key)["Item"]["postId"] == one["postId"]

    async def test_follows_carry_their_target_in_gsi2pk(self, life: Any, author: Author) -> None:
        """As a processor of the author's does it: GSI2PK is the followee, PK the follower."""
        records = [one for one in author.records() if one.get("type") == "FOLLOW"]
        assert {(one["PK"], one["GSI2PK"]) for one in records} == {
            ("USER#ben", "USER#ana"),
            ("USER#cleo", "USER#ana"),
            ("USER#ana", "USER#ben"),
        }
        for one in records:
            for user in (one["PK"], one["GSI2PK"]):
                assert "Item" in author.table.get_item(Key={"PK": user, "SK": "PROFILE"})

    async def test_counters_of_posts_and_profiles(self, life: Any, author: Author) -> None:
        [post] = author.query(None, "USER#ana", "POST#")
        assert (post["likeCount"], post["commentCount"]) == (1, 2)
        counts = {
            user: author.table.get_item(Key={"PK": f"USER#{user}", "SK": "PROFILE"})["Item"]
            for user in ("ana", "ben", "cleo")
        }
        numbers = {u: (i["followerCount"], i["followingCount"]) for u, i in counts.items()}
        assert numbers == {"ana": (2, 1), "ben": (1, 1), "cleo": (0, 1)}
