"""The document, query by query, through the author's eyes: raw boto3 on our table."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from tests.systems.author import Author

from keyfold_systems.gg_core.entities import FEED_DAYS

from .conftest import World

DUE = "2031-03-01T12:00:00.000Z"
PREFIXES = {"USER", "GOAL", "GROUP", "ROOM", "ACTIVITY", "FEED", "PROMO"}
OWN = {"ROOMS", "UNIQUE", "ONCE"}
"""Partitions of ours, which none of the document's queries meets."""


@pytest.fixture
async def life(world: World) -> dict[str, Any]:
    """Ada follows Ben, who is promoted, and Cyd, who is not; she has one of everything."""
    await world.join("ada", "ben", "cyd")
    await world.do("root", "PUT", "/promotions/ben", {"fanoutEnabled": True})
    for who in ("ben", "cyd"):
        await world.do("ada", "POST", f"/following/{who}")
    await world.settle()
    made: dict[str, Any] = {
        "posts": [
            (await world.post(who, f"{who} {n}"))["activityId"]
            for n, who in enumerate(("ben", "cyd", "ben"))
        ]
    }
    await world.settle()
    group = {"name": "Runners", "tags": ["b", "a", "b"]}
    made["group"] = (await world.do("ada", "POST", "/groups", group))["groupId"]
    made["goal"] = (await world.do("ada", "POST", "/goals", {"title": "Run"}))["goalId"]
    at = f"/goals/{made['goal']}/tasks"
    made["tasks"] = [
        (await world.do("ada", "POST", at, one))["taskId"]
        for one in ({"title": "Shoes", "dueAt": DUE}, {"title": "Someday"})
    ]
    quest = {"title": "Start", "kind": "linked", "linkedTaskIds": made["tasks"][::-1]}
    made["quest"] = (await world.do("ada", "POST", "/quests", quest))["questId"]
    made["room"] = (await world.do("ada", "POST", "/rooms", {"members": ["ben"]}))["roomId"]
    for number in range(3):
        await world.do("ada", "POST", f"/rooms/{made['room']}/messages", {"text": f"{number}"})
    await world.settle()
    return made


class TestUsersAndFollows:
    def test_a_profile_by_key_nickname_and_email(self, life: Any, author: Author) -> None:
        item = author.get("USER#ada", "PROFILE#ada")
        assert (item["type"], item["id"], item["tags"]) == ("User", "ada", [])
        at = item["createdAt"]
        assert (item["GSI1PK"], item["GSI1SK"]) == ("USER#ada", f"ENTITY#User#{at}")
        assert author.query("GSI2", "NICK#ada") == author.query("GSI3", "EMAIL#ada@x.org") == [item]
        assert (item["GSI2SK"], item["GSI3SK"]) == ("PROFILE#ada", "PROFILE#ada")

    def test_who_i_follow(self, life: Any, author: Author) -> None:
        found = author.query(None, "USER#ada", "FOLLOWING#")
        assert [(i["type"], i["followerId"], i["followeeId"]) for i in found] == [
            ("Follow", "ada", "ben"),
            ("Follow", "ada", "cyd"),
        ]

    def test_who_follows_me(self, life: Any, author: Author) -> None:
        found = author.query("GSI1", "USER#ben", "FOLLOWER#")
        assert [i["GSI1SK"] for i in found] == ["FOLLOWER#ada"]

    def test_counts(self, life: Any, author: Author) -> None:
        follows = author.query(None, "USER#ada", "FOLLOWING#")
        theirs = author.get("USER#ben", "COUNTER#FOLLOWERS")
        assert theirs["count"] == 1
        assert theirs["updatedAt"] >= follows[0]["createdAt"]
        mine = author.get("USER#ada", "COUNTER#FOLLOWING")
        assert mine["count"] == 2
        assert mine["updatedAt"] >= follows[1]["createdAt"]

    def test_a_users_timeline_has_entities_and_followers_only(
        self, life: Any, author: Author
    ) -> None:
        found = [i["GSI1SK"].split("#")[:2] for i in author.query("GSI1", "USER#ada")]
        assert found == [["ENTITY", kind] for kind in ("Goal", "Group", "Quest", "Task", "User")]
        followed = [i["GSI1SK"].split("#")[0] for i in author.query("GSI1", "USER#ben")]
        assert followed == ["ENTITY", "FOLLOWER"]


class TestGroups:
    def test_get_group_with_its_tags_in_order(self, life: Any, author: Author) -> None:
        item = author.get(f"GROUP#{life['group']}", f"GROUP#{life['group']}")
        assert (item["type"], item["ownerId"], item["tags"]) == ("Group", "ada", ["b", "a", "b"])
        assert item["isPersistent"] is False

    def test_list_members(self, life: Any, author: Author) -> None:
        [item] = author.query(None, f"GROUP#{life['group']}", "MEMBER#")
        assert (item["type"], item["userId"], item["role"]) == ("GroupMember", "ada", "owner")

    def test_groups_i_am_in(self, life: Any, author: Author) -> None:
        [item] = author.query("GSI1", "USER#ada", "ENTITY#Group#")
        assert item["GSI1SK"] == f"ENTITY#Group#{item['joinedAt']}#{life['group']}"


class TestGoalsAndQuests:
    def test_goals_and_tasks_by_their_keys(self, life: Any, author: Author) -> None:
        goal = author.get("USER#ada", f"GOAL#{life['goal']}")
        assert (goal["GSI1PK"], goal["GSI1SK"]) == ("USER#ada", f"ENTITY#Goal#{goal['createdAt']}")
        tasks = author.query(None, f"GOAL#{life['goal']}", "TASK#")
        assert sorted(i["taskId"] for i in tasks) == sorted(life["tasks"])

    def test_only_a_task_that_is_due_is_listed(self, life: Any, author: Author) -> None:
        [item] = author.query("GSI1", "USER#ada", "ENTITY#Task#")
        assert item["GSI1SK"] == f"ENTITY#Task#{DUE}#{life['tasks'][0]}"

    def test_list_quests(self, life: Any, author: Author) -> None:
        [item] = author.query("GSI1", "USER#ada", "ENTITY#Quest#")
        assert item["GSI1SK"] == f"ENTITY#Quest#{item['createdAt']}"

    def test_get_a_quest(self, life: Any, author: Author) -> None:
        item = author.get("USER#ada", f"QUEST#{life['quest']}")
        assert (item["type"], item["id"], item["status"]) == ("Quest", life["quest"], "active")
        assert (item["linkedTaskIds"], item["rewardXp"]) == (life["tasks"][::-1], 10)
        assert {"linkedGoalIds", "deadline", "targetCount", "description"}.isdisjoint(item)


class TestFeed:
    def test_fan_in_is_the_default(self, life: Any, author: Author) -> None:
        [item] = author.query(None, "ACTIVITY#cyd", Limit=50)
        assert (item["type"], item["actorId"], item["verb"]) == ("Activity", "cyd", "post")
        assert item["SK"] == f"TS#{item['createdAt']}#{item['activityId']}"

    def test_only_what_promoted_users_did_is_copied(self, life: Any, author: Author) -> None:
        copied = [i for i in author.items() if i["type"] == "FeedItem"]
        assert {(i["PK"], i["actorId"]) for i in copied} == {("FEED#ada", "ben")}

    def test_a_feeds_partition_has_feed_items_only(self, life: Any, author: Author) -> None:
        found = author.query(None, "FEED#ada", Limit=50)
        assert [i["type"] for i in found] == ["FeedItem", "FeedItem"]
        assert [i["activityId"] for i in found] == [life["posts"][0], life["posts"][2]]

    def test_copies_expire(self, life: Any, author: Author) -> None:
        for item in author.query(None, "FEED#ada"):
            days = (int(item["ttl"]) - datetime.now(UTC).timestamp()) / 86_400
            assert FEED_DAYS - 1 < days <= FEED_DAYS + 0.1

    async def test_a_page_has_both(self, life: Any, world: World) -> None:
        assert await world.feed("ada") == ["ben 2", "cyd 1", "ben 0"]

    def test_the_flag(self, life: Any, author: Author) -> None:
        item = author.get("PROMO#ben", "PROMO#ben")
        assert (item["type"], item["userId"], item["fanoutEnabled"]) == ("Promotion", "ben", True)
        assert (item["reason"], item["thresholds"]) == ("followers", {})
        assert "updatedAt" in item


class TestChat:
    def test_a_room(self, life: Any, author: Author) -> None:
        item = author.get(f"ROOM#{life['room']}", f"ROOM#{life['room']}")
        assert (item["type"], item["scope"], item["members"]) == ("Room", "dm", ["ada", "ben"])

    def test_messages(self, life: Any, author: Author) -> None:
        backwards = {"ScanIndexForward": False, "Limit": 50}
        found = author.query(None, f"ROOM#{life['room']}", "MSG#", **backwards)
        assert [i["text"] for i in found] == ["2", "1", "0"]
        for item in found:
            assert item["SK"] == f"MSG#{item['createdAt']}#{item['messageId']}"

    def test_history_as_it_is_written_begins_with_the_room(self, life: Any, author: Author) -> None:
        """A defect of the document: in descending order, ROOM# comes before MSG#."""
        found = author.query(None, f"ROOM#{life['room']}", ScanIndexForward=False, Limit=50)
        assert [i["type"] for i in found] == ["Room", "Message", "Message", "Message"]


async def test_what_we_add_is_in_no_index_and_in_partitions_of_its_own(
    life: Any, author: Author
) -> None:
    items = author.items()
    assert {i["PK"].split("#")[0] for i in items} <= PREFIXES | OWN
    ours = [i for i in items if i["PK"].split("#")[0] in OWN]
    assert ours
    assert not any(name.startswith("GSI") for item in ours for name in item)
