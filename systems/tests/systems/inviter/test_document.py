"""The document, line by line: items, indexes, patterns, rules."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from keyfold import AsyncDb
from keyfold_web import Conflict, Invalid, PageRequest
from keyfold.errors import BudgetExceeded, NotFound, VersionConflict
from keyfold.streams import AsyncConsumer
from keyfold_systems.inviter.design import design
from keyfold_systems.inviter.entities import (
    Answer,
    Group,
    GroupHangout,
    Hangout,
    Membership,
    Response,
    User,
)
from keyfold_systems.inviter.patterns import (
    group_feed,
    groups_of_user,
    hangout_by_id,
    user_upcoming,
)
from keyfold_systems.inviter.payloads import Guests, HangoutCard, HangoutChange
from tests.systems.conftest import Recorder

from .conftest import NOW, Town

PAGE = PageRequest(limit=50)


def key_of(entity: str) -> str:
    return str(design.schema.by_entity[entity].key)


class TestItems:
    """Section 2: item types and keys."""

    @pytest.mark.parametrize(
        ("entity", "key"),
        [
            ("Hangout", "EVENT#{hangout_id} / METADATA"),
            ("GroupHangout", "GROUP#{group_id} / HANGOUT#{hangout_id}"),
            ("Group", "GROUP#{group_id} / METADATA"),
            ("Membership", "GROUP#{group_id} / USER#{user_id}"),
        ],
    )
    def test_keys_are_the_documents(self, entity: str, key: str) -> None:
        assert key_of(entity) == key

    def test_everything_is_in_one_table(self) -> None:
        assert set(design.tables) == {"InviterTable"}


class TestIndexes:
    """Section 3: two indexes that share one attribute and never leak into each other."""

    def test_index_keys_are_the_documents(self) -> None:
        table = design.schema.by_table["InviterTable"]
        shown = [(i.name, i.partition, i.sort, i.sort_type) for i in table.indexes]
        assert shown == [
            ("UserGroupIndex", "gsi1pk", "gsi1sk", "S"),
            ("EntityTimeIndex", "gsi1pk", "startTimestamp", "N"),
        ]

    async def test_memberships_and_hangouts_stay_in_their_own_index(
        self, town: Town, client: Recorder
    ) -> None:
        group = await town.settle()
        await town.hangout(group, user_ids={"ben"})
        for item in await client.items():
            in_groups = "gsi1pk" in item and "gsi1sk" in item
            in_time = "gsi1pk" in item and "startTimestamp" in item
            assert not (in_groups and in_time), item
            if item["type"]["S"] == "GroupHangout":
                assert in_time
            if item["type"]["S"] == "Membership":
                assert in_groups


class TestPatterns:
    """Section 4: use cases, with the exact request each makes."""

    async def test_use_case_1_a_groups_feed(
        self, db: AsyncDb, town: Town, client: Recorder
    ) -> None:
        group = await town.settle()
        hangout = await town.hangout(group)
        client.requests.clear()
        page = await group_feed(db, group.group_id, limit=20)
        assert [p.hangout_id for p in page] == [hangout.hangout_id]
        assert client.requests == [
            (
                "Query",
                {
                    "TableName": "InviterTable",
                    "KeyConditionExpression": "#0 = :0 AND begins_with(#1, :1)",
                    "ExpressionAttributeNames": {"#0": "PK", "#1": "SK"},
                    "ExpressionAttributeValues": {
                        ":0": {"S": f"GROUP#{group.group_id}"},
                        ":1": {"S": "HANGOUT#"},
                    },
                    "ScanIndexForward": False,
                    "Limit": 20,
                },
            )
        ]

    async def test_use_case_2_a_users_complete_list(
        self, db: AsyncDb, town: Town, client: Recorder
    ) -> None:
        group = await town.settle()
        direct = await town.hangout(group, hours=5, group_ids=set(), user_ids={"ben"})
        both = await town.hangout(group, hours=3, user_ids={"ben"})
        await town.hangout(group, hours=-30)
        running = await town.hangout(group, hours=-1)
        client.requests.clear()
        earliest = NOW - timedelta(days=14)
        page = await user_upcoming(db, "ben", [group.group_id], earliest, NOW)
        assert [p.hangout_id for p in page] == [
            running.hangout_id,
            both.hangout_id,
            direct.hangout_id,
        ]
        asked = {
            (r["IndexName"], r["ExpressionAttributeValues"][":0"]["S"]) for _, r in client.requests
        }
        assert asked == {
            ("EntityTimeIndex", "USER#ben"),
            ("EntityTimeIndex", f"GROUP#{group.group_id}"),
        }
        for _, request in client.requests:
            assert "#1 >= :1" in request["KeyConditionExpression"]

    async def test_the_queries_of_a_users_list_run_at_once(
        self, db: AsyncDb, town: Town, client: Recorder, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        group = await town.settle()
        other = await town.service.create_group("Swimmers", town.ben)
        everyone = asyncio.Barrier(3)
        call = client.call

        async def together(operation: str, request: Any) -> dict[str, Any]:
            # One after the other, the first would wait for ever.
            await asyncio.wait_for(everyone.wait(), timeout=30)
            return await call(operation, request)

        monkeypatch.setattr(client, "call", together)
        groups = [group.group_id, other.group_id]
        page = await user_upcoming(db, "ben", groups, NOW - timedelta(days=14), NOW)
        assert page.items == []

    async def test_what_goes_on_now_is_still_listed(self, town: Town) -> None:
        group = await town.settle()
        running = await town.hangout(group, hours=-1)
        await town.hangout(group, hours=-30)
        for page in (
            await town.service.my_hangouts("ben", PAGE),
            await town.service.group_upcoming(group.group_id, PAGE, town.ben),
        ):
            assert [one.hangout_id for one in page] == [running.hangout_id]

    async def test_use_case_3_one_hangout(self, db: AsyncDb, town: Town, client: Recorder) -> None:
        group = await town.settle()
        hangout = await town.hangout(group)
        client.requests.clear()
        found = await hangout_by_id(db, hangout.hangout_id)
        assert found == await db.get(hangout.ref())
        operation, request = client.requests[0]
        assert operation == "GetItem"
        assert request["Key"] == {
            "PK": {"S": f"EVENT#{hangout.hangout_id}"},
            "SK": {"S": "METADATA"},
        }

    async def test_groups_of_a_user(self, db: AsyncDb, town: Town, client: Recorder) -> None:
        group = await town.settle()
        client.requests.clear()
        page = await groups_of_user(db, "ben")
        assert [(m.group_id, m.group_name) for m in page] == [(group.group_id, "Runners")]
        request = client.requests[0][1]
        assert request["IndexName"] == "UserGroupIndex"
        assert request["ExpressionAttributeValues"] == {
            ":0": {"S": "USER#ben"},
            ":1": {"S": "GROUP#"},
        }

    async def test_a_long_list_has_one_cursor_and_each_hangout_once(self, town: Town) -> None:
        group = await town.settle()
        other = await town.service.create_group("Swimmers", town.ben)
        await town.service.join_group(other.group_id, town.ada)
        made = [
            await town.hangout(group, hours=n % 7 + 1, group_ids={group.group_id, other.group_id})
            for n in range(23)
        ]
        found: list[HangoutCard] = []
        cursor: str | None = None
        while True:
            page = await town.service.my_hangouts("ben", PageRequest(5, cursor))
            found += page
            cursor = page.cursor
            if cursor is None:
                break
        assert sorted(card.hangout_id for card in found) == sorted(h.hangout_id for h in made)
        times = [card.starts_at for card in found]
        assert times == sorted(times)


class TestRules:
    """Section 5 and 6: each rule, and somebody who tries to break it."""

    async def test_the_feed_never_reads_a_canonical(self, town: Town, client: Recorder) -> None:
        group = await town.settle()
        for hour in range(6):
            await town.hangout(group, hours=hour + 1)
        client.requests.clear()
        await town.service.group_feed(group.group_id, PAGE, town.ben)
        pointers, answers = client.requests
        assert pointers[0] == "Query"
        assert answers[0] == "BatchGetItem"
        keys = answers[1]["RequestItems"]["InviterTable"]["Keys"]
        own = {"RESPONSE#ben", "USER#ben"}
        assert {one["SK"]["S"] for one in keys} == own, "their answers and their membership"

    async def test_a_loop_over_canonicals_is_refused(self, db: AsyncDb, town: Town) -> None:
        group = await town.settle()
        for hour in range(6):
            await town.hangout(group, hours=hour + 1)
        page = await group_feed(db, group.group_id)

        async def one_by_one() -> list[Hangout]:
            return [await db.get(Hangout.key(hangout_id=p.hangout_id)) for p in page]

        with db.work("feed"), pytest.raises(BudgetExceeded, match=r"N\+1"):
            await one_by_one()

    @pytest.mark.parametrize(
        "change",
        [
            {"title": "Long run"},
            {"place": "the lake"},
            {"cancelled": True},
            {"starts_at": NOW + timedelta(days=2), "ends_at": NOW + timedelta(days=2, hours=1)},
        ],
    )
    async def test_every_pointer_follows_every_change(
        self, db: AsyncDb, town: Town, change: dict[str, Any]
    ) -> None:
        group = await town.settle()
        hangout = await town.hangout(group, user_ids={"ben", "cleo"})
        await town.service.update_hangout(hangout.hangout_id, HangoutChange.model_validate(change))
        feed = await town.service.group_feed(group.group_id, PAGE, town.ben)
        lists = [await town.service.my_hangouts(one, PAGE) for one in ("ben", "cleo")]
        pointers = [*feed, *lists[0], *lists[1]]
        assert len(pointers) == 3
        for pointer in pointers:
            for name, value in change.items():
                assert getattr(pointer, name) == value

    async def test_a_moved_hangout_moves_in_the_time_index(self, db: AsyncDb, town: Town) -> None:
        group = await town.settle()
        first = await town.hangout(group, hours=1)
        second = await town.hangout(group, hours=2)
        later = {"starts_at": NOW + timedelta(days=3), "ends_at": NOW + timedelta(days=3, hours=1)}
        await town.service.update_hangout(first.hangout_id, HangoutChange.model_validate(later))
        page = await town.service.group_upcoming(group.group_id, PAGE, town.ben)
        assert [p.hangout_id for p in page] == [second.hangout_id, first.hangout_id]

    async def test_membership_info_follows_renamed_groups_and_users(
        self, db: AsyncDb, town: Town
    ) -> None:
        group = await town.settle()
        await town.service.rename_group(group.group_id, "Sprinters")
        await town.service.save_user("ben", "Benjamin")
        await AsyncConsumer(db).drain()
        members = await town.service.members(group.group_id, PAGE)
        assert {m.user_name for m in members} == {"Ada A", "Benjamin"}
        assert {m.group_name for m in members} == {"Sprinters"}

    async def test_a_late_pointer_update_brings_nothing_back(
        self, db: AsyncDb, town: Town, client: Recorder
    ) -> None:
        group = await town.settle()
        hangout = await town.hangout(group)
        await town.service.delete_hangout(hangout.hangout_id)
        with pytest.raises((NotFound, VersionConflict)):
            await db.update(hangout, title="Late")
        with pytest.raises(NotFound):
            await db.update(hangout.ref(), title="Late")
        assert (await group_feed(db, group.group_id)).items == []

    async def test_deleting_and_unlinking_leave_nothing_behind(
        self, town: Town, client: Recorder
    ) -> None:
        group = await town.settle()
        hangout = await town.hangout(group, user_ids={"ben"})
        await town.service.respond(hangout.hangout_id, Answer.GOING, town.ben)
        await town.service.withdraw(
            hangout.hangout_id, Guests(group_ids={group.group_id}, user_ids={"ben"})
        )
        await town.drain()
        lists = [i["PK"]["S"] for i in await client.items() if i["type"]["S"].endswith("Hangout")]
        assert lists == [f"EVENT#{hangout.hangout_id}", "USER#ada"], "the host keeps it"
        assert [i for i in await client.items() if i["type"]["S"] == "Response"] == []
        await town.service.delete_hangout(hangout.hangout_id)
        await town.service.delete_group(group.group_id)
        for one in ("ada", "ben", "cleo"):
            await town.service.delete_user(one)
        await town.drain()
        assert await client.items() == []

    async def test_counts_follow_answers_on_hangout_and_pointers(self, town: Town) -> None:
        group = await town.settle()
        hangout = await town.hangout(group, user_ids={"cleo"})
        await town.service.respond(hangout.hangout_id, Answer.GOING, town.ben)
        await town.service.respond(hangout.hangout_id, Answer.MAYBE, town.cleo)
        await town.service.respond(hangout.hangout_id, Answer.NOT_GOING, town.ben)
        await town.drain()
        expected = (0, 1, 1)
        stored = await town.service.hangout(hangout.hangout_id)
        feed = await town.service.group_feed(group.group_id, PAGE, town.ben)
        mine = await town.service.my_hangouts("cleo", PAGE)
        for shown in (stored, feed[0], mine[0]):
            assert (shown.going, shown.maybe, shown.not_going) == expected

    async def test_two_people_editing_one_hangout(self, town: Town) -> None:
        group = await town.settle()
        hangout = await town.hangout(group)
        await town.service.update_hangout(
            hangout.hangout_id, HangoutChange(title="One"), expected_version=1
        )
        with pytest.raises(VersionConflict):
            await town.service.update_hangout(
                hangout.hangout_id, HangoutChange(title="Two"), expected_version=1
            )
        assert (await town.service.hangout(hangout.hangout_id)).title == "One"

    async def test_nobody_joins_a_group_that_is_closing(self, db: AsyncDb, town: Town) -> None:
        group = await town.settle()
        await db.update(Group.key(group_id=group.group_id), closing=True)
        with pytest.raises(Conflict, match="closed"):
            await town.service.join_group(group.group_id, town.cleo)
        assert await db.find(Membership.key(group_id=group.group_id, user_id="cleo")) is None

    async def test_strangers_and_unknown_people_cannot_be_invited(self, town: Town) -> None:
        await town.settle()
        other = await town.service.create_group("Swimmers", town.cleo)
        with pytest.raises(Invalid, match="you are not in"):
            await town.hangout(other)
        with pytest.raises(Invalid, match="there is no nobody"):
            await town.hangout(other, group_ids=set(), user_ids={"nobody"})

    async def test_a_hangout_ends_after_it_starts(self, town: Town) -> None:
        group = await town.settle()
        with pytest.raises(Invalid, match="ends after"):
            await town.hangout(group, ends_at=NOW)

    async def test_an_answer_needs_its_hangout(self, db: AsyncDb, town: Town) -> None:
        await town.settle()
        with pytest.raises(NotFound):
            await town.service.respond("none", Answer.GOING, town.ben)
        assert await db.find(Response.key(hangout_id="none", user_id="ben")) is None

    async def test_index_keys_are_always_there(self, town: Town, client: Recorder) -> None:
        group = await town.settle()
        hangout = await town.hangout(group)
        later = HangoutChange(place="elsewhere")
        await town.service.update_hangout(hangout.hangout_id, later)
        pointers = [i for i in await client.items() if i["type"]["S"] == GroupHangout.__name__]
        assert all({"gsi1pk", "startTimestamp"} <= set(item) for item in pointers)

    async def test_a_deleted_user_leaves_no_membership(self, db: AsyncDb, town: Town) -> None:
        group = await town.settle()
        await town.service.delete_user("ben")
        assert await db.find(User.key(user_id="ben")) is None
        stored = await db.get(Group.key(group_id=group.group_id))
        assert stored.members == 1
