"""What the document's access patterns must really mean; their requests are in test_requests.py."""

from __future__ import annotations

from datetime import timedelta

import pytest

from keyfold import AsyncDb
from keyfold_web import Identity, PageRequest
from keyfold_engine.clock import ManualClock
from keyfold_systems.search_room.entities import Activity, CombinedCriteria, Compatibility
from keyfold_systems.search_room.patterns import (
    all_users_criteria,
    combined_criteria,
    compatibility_history,
    latest_compatibility,
    latest_user_criteria,
    listing_by_external_id,
    listing_by_id,
    membership,
    room_by_id,
    room_listings,
    room_members,
    user_rooms,
)
from keyfold_systems.search_room.payloads import ListingChange
from keyfold_systems.search_room.status import Status
from keyfold_systems.search_room.wishes import Span
from tests.systems.conftest import Recorder

from .conftest import INES, JONAS, MIA, NOW, Home, most

PAGE = PageRequest(limit=50)


@pytest.fixture
def client(everywhere: Recorder) -> Recorder:
    return everywhere


class TestRooms:
    async def test_get_room_by_id(self, home: Home, db: AsyncDb) -> None:
        found = await room_by_id(db, home.room.room_id)
        assert found is not None
        assert (found.name, found.created_by_user_id, found.member_count) == ("Ours", "mia", 2)
        assert await room_by_id(db, "none") is None

    async def test_get_room_members(self, home: Home, db: AsyncDb) -> None:
        members = await room_members(db, home.room.room_id)
        assert [(m.user_id, m.role) for m in members] == [("jonas", "member"), ("mia", "owner")]

    async def test_get_a_users_rooms_with_their_names(self, home: Home, db: AsyncDb) -> None:
        rooms = await user_rooms(db, "jonas")
        assert [(r.room_id, r.room_name, r.role) for r in rooms] == [
            (home.room.room_id, "Ours", "member")
        ]

    async def test_check_membership(self, home: Home, db: AsyncDb) -> None:
        assert await membership(db, home.room.room_id, "jonas") is not None
        assert await membership(db, home.room.room_id, "ines") is None

    async def test_a_room_with_its_members(self, home: Home) -> None:
        view = await home.service.room_view(home.room.room_id)
        assert view.room.name == "Ours"
        assert [m.user_id for m in view.members] == ["jonas", "mia"]


class TestListings:
    async def test_get_listing_by_id(self, home: Home, db: AsyncDb) -> None:
        made = await home.listing("7")
        found = await listing_by_id(db, home.room.room_id, made.listing_id)
        assert found is not None
        assert (found.ref(), found.title, found.version) == (made.ref(), made.title, made.version)

    async def test_get_all_room_listings(self, home: Home, db: AsyncDb) -> None:
        made = {(await home.listing()).listing_id for _ in range(5)}
        assert {one.listing_id for one in await room_listings(db, home.room.room_id)} == made

    async def test_get_listings_by_status_follows_the_status(self, home: Home) -> None:
        service, room_id = home.service, home.room.room_id
        one, two = await home.listing(), await home.listing()
        change = ListingChange(status=Status.VISIT_PLANNED)
        await service.update_listing(room_id, one.listing_id, change, MIA)
        applied = await service.listings(room_id, PAGE, MIA, Status.VISIT_PLANNED)
        unseen = await service.listings(room_id, PAGE, MIA, Status.UNSEEN)
        assert [x.listing_id for x in applied] == [one.listing_id]
        assert [x.listing_id for x in unseen] == [two.listing_id]

    async def test_visited_does_not_answer_for_visit_planned(self, home: Home) -> None:
        await home.listing()
        listing = await home.listing()
        change = ListingChange(status=Status.VISIT_PLANNED)
        await home.service.update_listing(home.room.room_id, listing.listing_id, change, MIA)
        page = await home.service.listings(home.room.room_id, PAGE, MIA, Status.VISITED)
        assert page.items == []

    async def test_find_by_external_id_in_this_room_only(self, home: Home, db: AsyncDb) -> None:
        made = await home.listing("7")
        found = await listing_by_external_id(db, home.room.room_id, "homegate", "7")
        assert found is not None
        assert found.listing_id == made.listing_id
        assert await listing_by_external_id(db, "other", "homegate", "7") is None
        assert await listing_by_external_id(db, home.room.room_id, "homegate", "8") is None

    async def test_listings_without_an_external_id_are_not_in_its_index(
        self, home: Home, client: Recorder
    ) -> None:
        await home.listing()
        stored = [i for i in await client.items() if i["entityType"]["S"] == "Listing"]
        assert [{"GSI1PK", "GSI1SK"} & set(one) for one in stored] == [set()]
        assert all({"GSI2PK", "GSI2SK"} <= set(one) for one in stored)

    async def test_separators_in_foreign_ids_make_no_other_key(
        self, home: Home, db: AsyncDb
    ) -> None:
        await home.listing("b#c", source_brand="a")
        assert await listing_by_external_id(db, home.room.room_id, "a#b", "c") is None
        await home.listing("c", source_brand="a#b")


class TestCriteria:
    async def test_get_a_users_latest_criteria(
        self, home: Home, db: AsyncDb, clock: ManualClock
    ) -> None:
        for price in (1000, 2000):
            await home.wish(MIA, price={"max": price})
            clock.advance(1)
        latest = await latest_user_criteria(db, home.room.room_id, "mia")
        assert latest is not None
        assert most(latest) == 2000

    async def test_all_users_criteria_is_the_latest_of_each(
        self, home: Home, db: AsyncDb, clock: ManualClock
    ) -> None:
        for price in range(1, 6):
            await home.wish(MIA, price={"max": price})
            await home.wish(JONAS, price={"max": price * 10})
            clock.advance(1)
        await home.service.combine_criteria(home.room.room_id, "all", MIA)
        found = await all_users_criteria(db, home.room.room_id)
        assert {one.user_id: most(one) for one in found} == {"mia": 5, "jonas": 50}

    async def test_history_is_paged_newest_first(self, home: Home, clock: ManualClock) -> None:
        for price in range(7):
            await home.wish(MIA, price={"max": price})
            clock.advance(1)
        prices: list[object] = []
        cursor: str | None = None
        while True:
            page = await home.service.criteria_history(
                home.room.room_id, "mia", PageRequest(3, cursor)
            )
            prices += [most(one) for one in page]
            cursor = page.cursor
            if cursor is None:
                break
        assert prices == [6, 5, 4, 3, 2, 1, 0]

    async def test_a_users_history_is_not_that_of_somebody_with_a_longer_name(
        self, home: Home
    ) -> None:
        await home.join(Identity.of("mi"))
        await home.wish(MIA, price={"max": 1})
        page = await home.service.criteria_history(home.room.room_id, "mi", PAGE)
        assert page.items == []

    async def test_get_combined_criteria_is_the_last_one(
        self, home: Home, db: AsyncDb, clock: ManualClock
    ) -> None:
        await home.wish(MIA, price={"max": 1000})
        await home.wish(JONAS, price={"max": 2000})
        await home.service.combine_criteria(home.room.room_id, "all", MIA)
        clock.advance(1)
        await home.service.combine_criteria(home.room.room_id, "strict", MIA)
        found = await combined_criteria(db, home.room.room_id)
        assert found is not None
        assert (found.combine_mode, most(found)) == ("strict", 1000)
        assert set(found.from_user_ids) == {"mia", "jonas"}


class TestActivities:
    async def test_get_room_activities_newest_first(self, home: Home, clock: ManualClock) -> None:
        for text in ("one", "two", "three"):
            clock.advance(1)
            await home.service.say(home.room.room_id, text, MIA)
        page = await home.service.activities(home.room.room_id, PAGE)
        assert [a.text for a in page][:3] == ["three", "two", "one"]
        assert {a.type for a in page} == {
            "ChatMessage",
            "MemberInvited",
            "MemberJoined",
            "RoomCreated",
        }

    async def test_after_a_timestamp_is_exclusive_and_activities_only(
        self, home: Home, clock: ManualClock
    ) -> None:
        await home.listing()
        await home.wish(MIA, price={"max": 1})
        await home.service.combine_criteria(home.room.room_id, "all", MIA)
        await home.service.say(home.room.room_id, "at the moment", MIA)
        clock.advance(0.001)
        later = await home.service.say(home.room.room_id, "just after", MIA)
        page = await home.service.activities(home.room.room_id, PAGE, since=NOW)
        assert [one.activity_id for one in page] == [later.activity_id]

    async def test_expired_activities_are_never_shown(
        self, home: Home, clock: ManualClock, client: Recorder
    ) -> None:
        await home.service.say(home.room.room_id, "old", MIA)
        clock.advance(timedelta(days=90).total_seconds())
        await home.service.say(home.room.room_id, "new", MIA)
        newest = await home.service.activities(home.room.room_id, PAGE)
        after = await home.service.activities(
            home.room.room_id, PAGE, since=NOW - timedelta(days=1)
        )
        assert [a.text for a in newest] == [a.text for a in after] == ["new"]

    async def test_same_instant_records_do_not_overwrite_each_other(
        self, home: Home, db: AsyncDb
    ) -> None:
        room_id = home.room.room_id
        await home.wish(JONAS, price={"max": 9})
        for number in range(5):
            await home.service.say(room_id, str(number), MIA)
            await home.wish(MIA, price={"max": number})
            await home.service.combine_criteria(room_id, "all", MIA)
            await home.service.compute_compatibility(room_id, MIA)
        counts = {}
        for entity in (Activity, CombinedCriteria, Compatibility):
            counts[entity] = len([one async for one in db.scan(entity)])
        # Beside the messages: the room, the invitation, the member, and each statement,
        # combination and score.
        assert counts == {Activity: 5 + 3 + 6 + 5 + 5, CombinedCriteria: 5, Compatibility: 5}
        history = await home.service.criteria_history(room_id, "mia", PAGE)
        assert [most(one) for one in history] == [4, 3, 2, 1, 0]
        latest = await latest_user_criteria(db, room_id, "mia")
        assert latest is not None
        assert most(latest) == 4


class TestCompatibility:
    async def test_latest_and_history(self, home: Home, db: AsyncDb, clock: ManualClock) -> None:
        room_id = home.room.room_id
        mine = await home.wish(MIA, price={"min": 0, "max": 1000})
        theirs = await home.wish(JONAS, price={"min": 2000, "max": 3000})
        first = await home.service.compute_compatibility(room_id, MIA)
        clock.advance(1)
        agreed = await home.wish(JONAS, price={"min": 0, "max": 1000})
        second = await home.service.compute_compatibility(room_id, MIA)
        assert (second.score_percent, second.level) == (100, "excellent")
        assert first.score_percent < second.score_percent
        assert set(first.criteria_refs) == {mine.criteria_id, theirs.criteria_id}
        assert set(second.criteria_refs) == {mine.criteria_id, agreed.criteria_id}
        assert await latest_compatibility(db, room_id) == second
        assert (await compatibility_history(db, room_id)).items == [second, first]

    async def test_nothing_is_computed_of_nothing(self, home: Home) -> None:
        assert await home.service.criteria(home.room.room_id) == []
        with pytest.raises(Exception, match="Nobody has said"):
            await home.service.compute_compatibility(home.room.room_id, MIA)
        with pytest.raises(Exception, match="computed yet"):
            await home.service.compatibility(home.room.room_id)
        with pytest.raises(Exception, match="combined yet"):
            await home.service.combined(home.room.room_id)


async def test_a_guest_who_left_is_not_combined(home: Home) -> None:
    await home.join(INES)
    await home.wish(MIA, price={"max": 1000})
    await home.wish(INES, price={"max": 10})
    await home.service.leave(home.room.room_id, INES.id, INES)
    made = await home.service.combine_criteria(home.room.room_id, "strict", MIA)
    assert (made.from_user_ids, made.criteria) == (["mia"], {"price": Span(max=1000)})
