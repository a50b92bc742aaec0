"""The guide, statement by statement, through the author's eyes: raw boto3 on our table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from keyfold.errors import BudgetExceeded, NotFound
from keyfold.review.check import check
from keyfold_systems.inviter import patterns
from keyfold_systems.inviter.design import design
from keyfold_systems.inviter.entities import Hangout, HangoutPointer
from keyfold_web import Identity, PageRequest

from .conftest import SOON, InviterAuthor, World


@dataclass(frozen=True)
class Life:
    """Ada and Ben run and read; Cleo is invited directly."""

    runners: str
    readers: str
    run: str
    swim: str


@pytest.fixture
async def life(world: World) -> Life:
    await world.join("ada", "ben", "cleo")
    runners = await world.group("Runners", "ada", "ben")
    readers = await world.group("Readers", "ben", "ada")
    both = {"associatedGroups": [runners, readers]}
    run = await world.plan("ada", "Run", 2, **both, location="Mill bridge")
    swim = await world.plan("ada", "Swim", 1, invitedUsers=["cleo"])
    await world.do("ben", "PUT", f"/hangouts/{run}/answer", {"answer": "going"})
    await world.do("cleo", "PUT", f"/hangouts/{swim}/answer", {"answer": "maybe"})
    await world.settle()
    return Life(runners, readers, run, swim)


class TestItems:
    def test_everything_is_in_one_table(self) -> None:
        assert list(design.tables) == ["InviterTable"]

    async def test_a_hangout_lies_at_its_event(self, life: Life, author: InviterAuthor) -> None:
        item = author.get(f"EVENT#{life.run}", "METADATA")
        assert (item["title"], item["hangoutId"]) == ("Run", life.run)
        assert set(item["associatedGroups"]) == {life.runners, life.readers}
        assert item["startTimestamp"] == int(SOON.timestamp() + 2 * 3600) * 1000

    async def test_a_pointer_lies_in_its_group(self, life: Life, author: InviterAuthor) -> None:
        item = author.get(f"GROUP#{life.runners}", f"HANGOUT#{life.run}")
        assert (item["title"], item["location"], item["going"]) == ("Run", "Mill bridge", 1)

    async def test_a_group_is_the_metadata_of_its_partition(
        self, life: Life, author: InviterAuthor
    ) -> None:
        item = author.get(f"GROUP#{life.readers}", "METADATA")
        assert (item["groupId"], item["name"], item["members"]) == (life.readers, "Readers", 2)

    async def test_a_membership_has_the_names_of_both(
        self, life: Life, author: InviterAuthor
    ) -> None:
        item = author.get(f"GROUP#{life.runners}", "USER#ben")
        assert (item["groupName"], item["userName"]) == ("Runners", "Ben")


class TestIndexes:
    async def test_groups_of_a_user(self, life: Life, author: InviterAuthor) -> None:
        found = author.groups("ada")  # the partition holds nothing else
        assert sorted(item["gsi1sk"] for item in found) == sorted(
            [f"GROUP#{life.runners}", f"GROUP#{life.readers}"]
        )
        assert {item["type"] for item in found} == {"GroupMembership"}
        assert author.groups("cleo") == []

    async def test_upcoming_hangouts_of_a_user(self, life: Life, author: InviterAuthor) -> None:
        [item] = author.upcoming("USER#cleo")  # the partition holds nothing else
        assert (item["title"], item["type"]) == ("Swim", "UserHangoutPointer")
        assert [item["title"] for item in author.upcoming("USER#ada")] == ["Swim", "Run"]

    async def test_upcoming_hangouts_of_a_group(self, life: Life, author: InviterAuthor) -> None:
        [item] = author.upcoming(f"GROUP#{life.runners}")
        assert (item["title"], item["type"]) == ("Run", "HangoutPointer")
        assert author.upcoming(f"GROUP#{life.runners}", item["startTimestamp"]) == []

    async def test_index_keys_are_there_only_where_the_guide_has_them(
        self, life: Life, author: InviterAuthor
    ) -> None:
        used = {
            item["type"]: {"gsi1pk", "gsi1sk", "startTimestamp"} & item.keys()
            for item in author.items()
        }
        pointer = {"gsi1pk", "startTimestamp"}
        assert {kind: keys for kind, keys in used.items() if "gsi1pk" in keys} == {
            "GroupMembership": {"gsi1pk", "gsi1sk"},
            "HangoutPointer": pointer,
            "UserHangoutPointer": pointer,
        }

    async def test_what_we_add_is_in_no_partition_that_the_guide_queries(
        self, life: Life, author: InviterAuthor
    ) -> None:
        theirs = {"Hangout", "HangoutPointer", "Group", "GroupMembership"}
        ours = [item for item in author.items() if item["type"] not in theirs]
        assert not any(item["PK"].startswith("GROUP#") for item in ours)
        assert {item["type"] for item in ours if "gsi1pk" in item} == {"UserHangoutPointer"}


class TestUseCases:
    async def test_use_case_1_a_groups_feed(
        self, life: Life, world: World, author: InviterAuthor
    ) -> None:
        assert [item["title"] for item in author.feed(life.runners)] == ["Run"]
        [card] = (await world.do("ben", "GET", f"/groups/{life.runners}/feed"))["items"]
        assert (card["title"], card["going"], card["myAnswer"]) == ("Run", 1, "going")

    async def test_use_case_2_a_users_complete_list(
        self, life: Life, world: World, author: InviterAuthor
    ) -> None:
        keys = ["USER#ada", *(f"GROUP#{item['groupId']}" for item in author.groups("ada"))]
        found = [item for key in keys for item in author.upcoming(key)]
        merged = {item["hangoutId"]: item for item in found}
        times = sorted(merged.values(), key=lambda item: item["startTimestamp"])
        assert [item["title"] for item in times] == ["Swim", "Run"]
        assert await world.titles("ada", "/users/ada/hangouts") == ["Swim", "Run"]

    async def test_use_case_3_one_hangout(self, life: Life, world: World) -> None:
        found = await world.do("cleo", "GET", f"/hangouts/{life.swim}")
        assert (found["title"], found["maybe"]) == ("Swim", 1)

    async def test_a_loop_over_canonicals_is_refused(self, life: Life, world: World) -> None:
        for hour in range(6):
            await world.plan("ada", "Run", hour, associatedGroups=[life.readers])
        prefix = world.db.context.table_prefix
        db = await design.open_async(world.db.client, table_prefix=prefix, on_loop="raise")
        page = await patterns.group_feed(db, life.readers)

        async def one_by_one() -> list[Hangout]:
            return [await db.get(Hangout.key(hangout_id=one.hangout_id)) for one in page]

        with db.work("feed"), pytest.raises(BudgetExceeded, match=r"N\+1"):
            await one_by_one()

    async def test_a_feed_takes_one_query_and_one_batch(self, life: Life, world: World) -> None:
        calls: list[str] = []
        call = world.db.client.call

        async def counted(operation: str, request: Any) -> Any:
            calls.append(operation)
            return await call(operation, request)

        world.db.client.call = counted  # type: ignore[method-assign]
        await world.service.group_feed(life.runners, PageRequest(20), Identity.of("ben"))
        assert calls == ["Query", "BatchGetItem"]


class TestRules:
    async def test_rule_1_a_changed_title_is_on_every_pointer(
        self, life: Life, world: World, author: InviterAuthor
    ) -> None:
        await world.do("ada", "PUT", f"/hangouts/{life.run}/title", {"title": "Long run"})
        # Before any consumer has run: the pointers are written with the canonical record.
        shown = [author.feed(one)[0]["title"] for one in (life.runners, life.readers)]
        assert shown == ["Long run"] * 2
        assert author.upcoming("USER#ada")[1]["title"] == "Long run"

    async def test_a_moved_hangout_moves_in_the_time_index(
        self, life: Life, world: World, author: InviterAuthor
    ) -> None:
        later = {"startTimestamp": "2101-01-01T10:00:00Z"}
        await world.do("ada", "PATCH", f"/hangouts/{life.run}", later)
        [item] = author.upcoming(f"GROUP#{life.readers}")
        assert item["startTimestamp"] == 4134016800000

    def test_rule_2_what_a_list_shows_is_on_the_pointer(self) -> None:
        shown = {"title", "location", "start_timestamp", "end_timestamp", "going", "host_id"}
        assert shown <= set(HangoutPointer.model_fields)

    async def test_rule_3_index_keys_follow_from_the_fields(
        self, life: Life, author: InviterAuthor
    ) -> None:
        for item in author.items():
            if "Pointer" in item["type"]:
                assert item["gsi1pk"] == item["PK"]
                assert item["startTimestamp"] > 0

    async def test_a_deleted_hangout_leaves_no_pointer_and_no_answer(
        self, life: Life, world: World, author: InviterAuthor
    ) -> None:
        await world.do("ada", "DELETE", f"/hangouts/{life.run}")
        await world.settle()
        assert author.feed(life.runners) == author.feed(life.readers) == []
        assert not any(life.run in item["PK"] for item in author.items())

    async def test_a_late_write_brings_no_deleted_pointer_back(
        self, life: Life, world: World, author: InviterAuthor
    ) -> None:
        await world.do("ada", "DELETE", f"/hangouts/{life.run}")
        with pytest.raises(NotFound):
            await world.db.update(Hangout.key(hangout_id=life.run), title="Late")
        assert author.feed(life.runners) == []


def test_the_design_check_reports_what_the_guide_has_and_nothing_else() -> None:
    # X15: the guide gives both indexes one partition attribute.
    assert [one.code for one in check(design.schema).findings] == ["X15"]
