"""What must hold in a room, and people who try to break it, several at once."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from keyfold import AsyncDb
from keyfold_web import Conflict, Identity, Missing, NotAllowed, PageRequest
from keyfold_engine.clock import ManualClock
from keyfold.errors import KeyfoldError, NotFound, VersionConflict
from keyfold.maintain import repairing, verification
from keyfold.streams import AsyncConsumer
from keyfold_systems.search_room.design import design
from keyfold_systems.search_room.entities import (
    MOST_MEMBERS,
    SUPERSEDED_CRITERIA_DAYS,
    Listing,
    Member,
    Role,
    Room,
    UserCriteria,
    UserRoom,
)
from keyfold_systems.search_room.payloads import ListingChange, NewCriteria, NewRoom, RoomChange
from keyfold_systems.search_room.service import SearchRoom
from keyfold_systems.search_room.status import Status
from keyfold_systems.search_room.wishes import Span
from tests.systems.conftest import Recorder, served

from .conftest import INES, JONAS, MIA, NOW, Home, in_rooms, most

PAGE = PageRequest(limit=50)
KEYS = {
    "Report": "REPORTS / REPORT#{kind}#{subject_id}#{reporter_id}",
    "AuditEntry": "AUDIT#{at:%Y-%m} / AT#{at:iso}#{entry_id}",
    "Person": "USER#{user_id} / PROFILE",
    "Removal": "USER#{user_id} / REMOVAL",
    "Suspension": "USER#{user_id} / SUSPENSION",
    "Notification": "USER#{user_id} / NOTIFICATION#{created_at:iso_ms}#{activity_id}",
    "FormerRoom": "USER#{user_id} / LEFT#{room_id}",
    "AskedRoom": "USER#{user_id} / ASKED#{room_id}",
    "InvitationLink": "ROOM#{room_id} / LINK#{link_id}",
    "Room": "ROOM#{room_id} / ROOM",
    "Member": "ROOM#{room_id} / MEMBER#{user_id}",
    "UserRoom": "USER#{user_id} / ROOM#{room_id}",
    "Invitation": "ROOM#{room_id} / INVITATION#{user_id}",
    "UserInvitation": "USER#{user_id} / INVITATION#{room_id}",
    "Listing": "ROOM#{room_id} / LISTING#{listing_id}",
    "UserCriteria": "ROOM#{room_id} / CRITERIA#{user_id}#{timestamp:iso_ms}#{criteria_id}",
    "LatestCriteria": "ROOM#{room_id} / CRITERIA_LATEST#{user_id}",
    "CombinedCriteria": "ROOM#{room_id} / CRITERIA_COMBINED#{timestamp:iso_ms}#{combined_id}",
    "Activity": "ROOM#{room_id} / ACTIVITY#{created_at:iso_ms}#{activity_id}",
    "Compatibility": "ROOM#{room_id} / COMPATIBILITY#{timestamp:iso_ms}#{compatibility_id}",
}


ATTRIBUTES = {
    "Room": {
        "roomId": "S",
        "name": "S",
        "createdByUserId": "S",
        "createdAt": "S",
        "searchType": "S",
        "context": "M",
    },
    "Member": {"roomId": "S", "userId": "S", "role": "S", "joinedAt": "S"},
    "UserRoom": {"userId": "S", "roomId": "S", "role": "S", "joinedAt": "S"},
    "Listing": {
        "listingId": "S",
        "roomId": "S",
        "sourceBrand": "S",
        "externalId": "S",
        "title": "S",
        "location": "S",
        "status": "S",
        "seenBy": "SS",
        "addedAt": "S",
    },
    "UserCriteria": {
        "roomId": "S",
        "userId": "S",
        "timestamp": "S",
        "criteria": "M",
        "weights": "M",
        "source": "S",
    },
    "CombinedCriteria": {
        "roomId": "S",
        "timestamp": "S",
        "criteria": "M",
        "weights": "M",
        "fromUserIds": "L",
        "combineMode": "S",
    },
    "Activity": {
        "roomId": "S",
        "activityId": "S",
        "type": "S",
        "createdAt": "S",
        "senderType": "S",
        "senderId": "S",
        "ttl": "N",
    },
    "Compatibility": {
        "roomId": "S",
        "timestamp": "S",
        "scorePercent": "N",
        "level": "S",
        "comment": "S",
        "criteriaRefs": "L",
    },
}
"""The document's attributes by entity, as they are stored; an array of people is a set."""


async def outcomes(*calls: Any) -> tuple[list[Any], list[BaseException]]:
    """What came of calls made at once: results and refusals."""
    done = await asyncio.gather(*calls, return_exceptions=True)
    refused = [one for one in done if isinstance(one, BaseException)]
    assert all(isinstance(one, KeyfoldError) for one in refused), refused
    return [one for one in done if not isinstance(one, BaseException)], refused


async def clean(db: AsyncDb) -> None:
    await AsyncConsumer(db).drain()
    report = await db.run(verification(db.context))
    assert report.clean, report


class TestTable:
    async def test_every_attribute_of_the_document_is_stored(
        self, db: AsyncDb, client: Recorder
    ) -> None:
        home = Home(SearchRoom(db))
        await home.meet(MIA)
        new = NewRoom(name="Ours", search_type="rent", context={"familySize": 2})
        home.room = await home.service.create_room(new, MIA)
        room_id = home.room.room_id
        listing = await home.listing("7", location="Bern")
        await home.service.mark_seen(room_id, listing.listing_id, MIA)
        said = NewCriteria(criteria={"price": Span(max=1)}, weights={"price": 0.5})
        await home.service.save_criteria(room_id, said, MIA)
        await home.service.combine_criteria(room_id, "all", MIA)
        await home.join(JONAS)
        await home.wish(JONAS, price={"max": 2})
        await home.service.compute_compatibility(room_id, MIA)
        stored = {one["entityType"]["S"]: one for one in await client.items()}
        for entity, attributes in ATTRIBUTES.items():
            item = {name: next(iter(value)) for name, value in stored[entity].items()}
            assert attributes.items() <= item.items(), entity

    def test_keys_are_the_documents(self) -> None:
        assert {name: str(one.key) for name, one in design.schema.by_entity.items()} == KEYS

    def test_indexes_and_ttl_are_the_documents(self) -> None:
        table = design.schema.by_table["search-room"]
        assert [(i.name, i.partition, i.sort) for i in table.indexes] == [
            ("ExternalIdIndex", "GSI1PK", "GSI1SK"),
            ("StatusIndex", "GSI2PK", "GSI2SK"),
        ]
        assert (table.ttl, table.partition, table.sort) == ("ttl", "PK", "SK")

    async def test_the_table_is_on_demand_and_named_by_the_environment(
        self, client: Recorder, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("DYNAMODB_TABLE_NAME", "rooms-of-tests")
        async with await design.open_async(client, clock=clock):
            made = [r for o, r in client.requests if o == "CreateTable"]
        assert [one["TableName"] for one in made] == ["rooms-of-tests"]
        assert [one["BillingMode"] for one in made] == ["PAY_PER_REQUEST"]


class TestMembership:
    async def test_both_sides_of_a_membership_are_equal(self, home: Home, db: AsyncDb) -> None:
        room_id = home.room.room_id
        await home.join(INES)
        await home.service.change_role(room_id, JONAS.id, Role.OWNER, MIA)
        await home.service.leave(room_id, INES.id, INES)
        members = {(m.user_id, m.role) async for m in db.scan(Member)}
        entries = {(m.user_id, m.role) async for m in db.scan(UserRoom)}
        assert members == entries == {("mia", "owner"), ("jonas", "owner")}

    async def test_a_renamed_room_is_renamed_in_every_list(self, home: Home, db: AsyncDb) -> None:
        await home.service.update_room(home.room.room_id, RoomChange(name="Theirs"), MIA)
        await AsyncConsumer(db).drain()
        for who in (MIA, JONAS):
            rooms = await home.service.rooms(who.id, PAGE)
            assert [one.room_name for one in rooms] == ["Theirs"]

    async def test_context_and_search_type_change_and_what_is_left_out_stays(
        self, home: Home
    ) -> None:
        url = f"/rooms/{home.room.room_id}"
        async with served(home.service) as web:
            told = {"searchType": "buy", "context": {"people": 3, "budget": 2.5, "note": "lake"}}
            changed = (await web["mia"].patch(url, json=told)).json()
            assert {name: changed[name] for name in told} == told
            assert changed["name"] == "Ours"
            again = (await web["mia"].patch(url, json={"name": "Theirs"})).json()
            assert (again["context"], again["searchType"]) == (told["context"], "buy")
            cleared = await web["mia"].patch(url, json={"context": None})
            assert cleared.json()["context"] == {}
            tag = {"if-match": cleared.headers["etag"]}
            await web["mia"].patch(url, json={"name": "Ours"})
            late = await web["mia"].patch(url, json={"name": "Mine"}, headers=tag)
            assert late.status_code == 412

    async def test_lists_show_names_and_numbers(self, home: Home) -> None:
        await home.listing("7")
        view = await home.service.room_view(home.room.room_id)
        assert [(m.user_id, m.user_name) for m in view.members] == [
            ("jonas", "Jonas"),
            ("mia", "Mia"),
        ]
        (entry,) = await home.service.rooms("jonas", PAGE)
        assert (entry.search_type, entry.member_count, entry.listing_count) == ("rent", 2, 1)
        assert entry.role == Role.MEMBER
        await home.service.save_profile("mia", "Mia K.")
        notes = await home.service.activities(home.room.room_id, PAGE)
        assert {one.sender_name for one in notes} == {"Mia K.", "Jonas"}

    async def test_a_users_list_needs_no_read_for_each_room(
        self, home: Home, client: Recorder
    ) -> None:
        for _ in range(3):
            await home.open()
        client.requests.clear()
        assert len(await home.service.rooms(JONAS.id, PAGE)) == 4
        assert [operation for operation, _ in client.requests] == ["Query", "BatchGetItem"]

    async def test_nobody_is_a_member_twice(self, home: Home) -> None:
        await home.service.invite(home.room.room_id, INES.id, MIA)
        calls = [home.service.join(home.room.room_id, INES) for _ in range(6)]
        done, refused = await outcomes(*calls)
        assert len(done) == 1
        assert {type(one) for one in refused} == {Conflict}

    async def test_a_room_never_has_too_many_members(self, home: Home, db: AsyncDb) -> None:
        many = [Identity.of(f"u{number}") for number in range(MOST_MEMBERS + 5)]
        for one in many:
            await home.meet(one)
            await home.service.invite(home.room.room_id, one.id, MIA)
        done, _ = await outcomes(*(home.service.join(home.room.room_id, one) for one in many))
        assert len(done) == MOST_MEMBERS - 2
        assert (await db.get(home.room.ref())).member_count == MOST_MEMBERS

    async def test_the_last_owner_stays(self, home: Home) -> None:
        with pytest.raises(Conflict, match="last owner"):
            await home.service.leave(home.room.room_id, MIA.id, MIA)
        with pytest.raises(Conflict, match="last owner"):
            await home.service.change_role(home.room.room_id, MIA.id, Role.MEMBER, MIA)

    async def test_two_owners_cannot_both_leave_at_once(self, home: Home, db: AsyncDb) -> None:
        room_id = home.room.room_id
        await home.service.change_role(room_id, JONAS.id, Role.OWNER, MIA)
        _, refused = await outcomes(
            home.service.leave(room_id, MIA.id, MIA),
            home.service.leave(room_id, JONAS.id, JONAS),
            home.service.change_role(room_id, JONAS.id, Role.MEMBER, MIA),
            home.service.change_role(room_id, MIA.id, Role.MEMBER, MIA),
        )
        assert len(refused) >= 3
        owners = [m.user_id async for m in db.scan(Member) if m.role == Role.OWNER]
        assert len(owners) == 1
        await clean(db)

    async def test_who_is_not_there_cannot_leave(self, home: Home) -> None:
        with pytest.raises(Missing):
            await home.service.leave(home.room.room_id, INES.id, INES)
        with pytest.raises(NotFound):
            await home.service.change_role(home.room.room_id, INES.id, Role.OWNER, MIA)


class TestListings:
    async def test_duplicates_are_impossible_at_once(self, home: Home, db: AsyncDb) -> None:
        done, refused = await outcomes(*(home.listing("7") for _ in range(8)))
        assert len(done) == 1
        assert {getattr(one, "code", "") for one in refused} == {"DUPLICATE"}
        assert len([one async for one in db.scan(Listing)]) == 1

    async def test_a_deleted_listing_can_be_saved_again(self, home: Home) -> None:
        made = await home.listing("7")
        await home.service.delete_listing(home.room.room_id, made.listing_id, MIA)
        assert (await home.listing("7")).listing_id != made.listing_id

    async def test_other_rooms_and_listings_without_an_id_are_no_duplicates(
        self, home: Home
    ) -> None:
        await home.listing("7")
        await home.listing()
        await home.listing()
        await home.open()
        await home.listing("7")

    async def test_everybody_who_saw_a_listing_is_in_its_set_once(self, home: Home) -> None:
        made = await home.listing()
        seen = [
            home.service.mark_seen(home.room.room_id, made.listing_id, who)
            for who in (MIA, JONAS, MIA, JONAS)
        ]
        await asyncio.gather(*seen)
        stored = await home.service.listing(home.room.room_id, made.listing_id, MIA)
        assert (stored.seen_by, stored.status) == ({"mia", "jonas"}, Status.SEEN)

    async def test_looking_at_it_does_not_move_a_listing_back(self, home: Home) -> None:
        made = await home.listing()
        room_id = home.room.room_id
        change = ListingChange(status=Status.VISIT_PLANNED)
        await home.service.update_listing(room_id, made.listing_id, change, MIA)
        seen = await home.service.mark_seen(room_id, made.listing_id, JONAS)
        assert (seen.status, seen.seen_by) == (Status.VISIT_PLANNED, {"jonas"})

    async def test_two_people_editing_one_listing(self, home: Home) -> None:
        made = await home.listing()
        args = home.room.room_id, made.listing_id
        await home.service.update_listing(*args, ListingChange(title="A"), MIA, made.version)
        with pytest.raises(VersionConflict):
            await home.service.update_listing(*args, ListingChange(title="B"), MIA, made.version)
        assert (await home.service.listing(*args, MIA)).title == "A"


class TestCriteria:
    async def test_superseded_criteria_expire_and_the_latest_stays(
        self, home: Home, clock: ManualClock
    ) -> None:
        for price in (1, 2, 3):
            await home.wish(MIA, price={"max": price})
            clock.advance(60)
        page = await home.service.criteria_history(home.room.room_id, "mia", PAGE)
        assert [one.expires_at is None for one in page] == [True, False, False]
        clock.advance(timedelta(days=SUPERSEDED_CRITERIA_DAYS).total_seconds())
        page = await home.service.criteria_history(home.room.room_id, "mia", PAGE)
        assert [most(one) for one in page] == [3]
        clock.advance(timedelta(days=3650).total_seconds())
        assert [most(one) for one in await home.service.criteria(home.room.room_id)] == [3]

    async def test_criteria_said_at_once_are_all_kept_and_one_is_the_latest(
        self, home: Home, db: AsyncDb
    ) -> None:
        done, refused = await outcomes(*(home.wish(MIA, price={"max": n}) for n in range(4)))
        assert refused == []
        history = [one async for one in db.scan(UserCriteria)]
        assert len(history) == len(done) == 4
        latest = await home.service.criteria(home.room.room_id)
        assert [one.criteria_id for one in latest] == [max(one.criteria_id for one in done)]
        lasting = [one.criteria_id for one in history if one.expires_at is None]
        assert lasting == [latest[0].criteria_id]

    async def test_an_older_statement_never_replaces_a_newer_one(
        self, home: Home, client: Recorder, clock: ManualClock
    ) -> None:
        slow = ManualClock(NOW.timestamp())
        opening = design.open_async(client, clock=slow, table_prefix=client.prefix)
        behind = Home(SearchRoom(await opening))
        behind.room = home.room
        clock.advance(10)
        await home.wish(MIA, price={"max": 2})
        late = await behind.wish(MIA, price={"max": 1})
        assert late.expires_at is not None
        found = await home.service.criteria(home.room.room_id)
        assert [most(one) for one in found] == [2]

    async def test_sources_are_kept(self, home: Home) -> None:
        new = NewCriteria(
            criteria={"price": Span(max=9)}, weights={"price": 0.5}, source="ai_proposed"
        )
        await home.service.save_criteria(home.room.room_id, new, MIA)
        found = (await home.service.criteria(home.room.room_id))[0]
        assert (found.source, found.weights) == ("ai_proposed", {"price": 0.5})

    @pytest.mark.parametrize("said_before", [False, True])
    async def test_what_somebody_says_while_they_leave_goes_with_them(
        self, home: Home, db: AsyncDb, client: Recorder, said_before: bool
    ) -> None:
        """The wish comes between what leaving reads and what it writes."""
        room_id = home.room.room_id
        await home.wish(MIA, price={"max": 1000})
        if said_before:
            await home.wish(JONAS, price={"max": 1})
        call, said = client.call, 0

        async def meanwhile(operation: str, request: Any) -> dict[str, Any]:
            nonlocal said
            if operation == "TransactWriteItems" and not said:
                said = 1
                await home.wish(JONAS, price={"max": 2})
            return await call(operation, request)

        client.call = meanwhile  # type: ignore[method-assign]
        await home.service.leave(room_id, JONAS.id, JONAS)
        assert said == 1
        assert await db.find(Member.key(room_id=room_id, user_id="jonas")) is None
        assert [one.user_id for one in await home.service.criteria(room_id)] == ["mia"]
        combined = await home.service.combine_criteria(room_id, "strict", MIA)
        assert (combined.from_user_ids, most(combined)) == (["mia"], 1000)
        history = await home.service.criteria_history(room_id, "jonas", PAGE)
        assert all(one.expires_at is not None for one in history)
        await clean(db)

    async def test_leaving_and_saying_at_once_leaves_no_wish_of_who_is_not_there(
        self, home: Home, db: AsyncDb
    ) -> None:
        for number in range(20):
            await home.join(INES)
            await asyncio.gather(
                home.wish(INES, price={"max": number}),
                home.service.leave(home.room.room_id, INES.id, INES),
                home.wish(INES, price={"max": number + 100}),
                return_exceptions=True,
            )
            there = await db.find(Member.key(room_id=home.room.room_id, user_id="ines"))
            left = [one.user_id for one in await home.service.criteria(home.room.room_id)]
            assert there is not None or "ines" not in left
            if there is not None:
                await home.service.leave(home.room.room_id, INES.id, INES)

    async def test_wishes_left_behind_before_are_found_and_repaired(
        self, home: Home, db: AsyncDb, client: Recorder
    ) -> None:
        await home.wish(JONAS, price={"max": 1})
        (item,) = [x for x in await client.items() if x["SK"]["S"] == "CRITERIA_LATEST#jonas"]
        await home.service.leave(home.room.room_id, JONAS.id, JONAS)
        await client.call("PutItem", {"TableName": f"{client.prefix}search-room", "Item": item})
        report = await db.run(verification(db.context))
        assert not report.clean
        await db.run(repairing(db.context, report.drifts))
        assert await home.service.criteria(home.room.room_id) == []

    async def test_one_voice_alone_has_no_score(self, home: Home) -> None:
        await home.wish(MIA, price={"max": 1})
        with pytest.raises(Conflict, match="nothing to compare") as refused:
            await home.service.compute_compatibility(home.room.room_id, MIA)
        assert refused.value.code == "NOTHING_TO_COMPARE"
        await home.wish(JONAS, rooms={"min": 3})
        with pytest.raises(Conflict, match="nothing to compare"):
            await home.service.compute_compatibility(home.room.room_id, MIA)

    async def test_criteria_and_weights_are_stored_in_the_documents_open_shape(
        self, home: Home, client: Recorder
    ) -> None:
        said = {"location": ["Bern"], "price": {"max": 2500}, "rooms": {"min": 3.5}, "pets": True}
        async with served(home.service) as web:
            url = f"/rooms/{home.room.room_id}/criteria"
            sent = {"criteria": said, "weights": {"location": 0.5, "pets": 1}}
            answer = await web["mia"].post(url, json=sent)
            assert answer.json()["criteria"] == said
            assert (await web["jonas"].get(url)).json()[0]["criteria"] == said
        (item,) = [x for x in await client.items() if x["SK"]["S"] == "CRITERIA_LATEST#mia"]
        assert item["criteria"]["M"] == {
            "location": {"L": [{"S": "Bern"}]},
            "price": {"M": {"max": {"N": "2500"}}},
            "rooms": {"M": {"min": {"N": "3.5"}}},
            "pets": {"BOOL": True},
        }
        assert item["weights"]["M"] == {"location": {"N": "0.5"}, "pets": {"N": "1"}}

    async def test_who_left_cannot_say_anything(self, home: Home) -> None:
        await home.wish(JONAS, price={"max": 1})
        await home.service.leave(home.room.room_id, JONAS.id, JONAS)
        with pytest.raises(NotAllowed):
            await home.wish(JONAS, price={"max": 2})
        page = await home.service.criteria_history(home.room.room_id, JONAS.id, PAGE)
        assert all(one.expires_at is not None for one in page)


class TestDeletion:
    async def full(self, home: Home) -> None:
        for number in range(3):
            await home.listing(str(number))
        await home.wish(MIA, price={"max": 1})
        await home.wish(JONAS, price={"max": 2})
        await home.service.combine_criteria(home.room.room_id, "all", MIA)
        await home.service.compute_compatibility(home.room.room_id, MIA)

    async def test_a_small_room_goes_at_once_with_everything(
        self, home: Home, client: Recorder
    ) -> None:
        await self.full(home)
        await home.service.delete_room(home.room.room_id)
        assert await in_rooms(client) == []

    async def test_a_large_room_goes_by_the_stream(
        self, home: Home, client: Recorder, db: AsyncDb
    ) -> None:
        await self.full(home)
        for number in range(120):
            await home.service.say(home.room.room_id, str(number), MIA)
        await home.service.delete_room(home.room.room_id)
        with pytest.raises((NotFound, NotAllowed)):
            await home.service.say(home.room.room_id, "anybody there?", MIA)
        await AsyncConsumer(db).drain()
        assert await in_rooms(client) == []

    async def test_what_is_added_meanwhile_is_refused_or_goes_too(
        self, home: Home, client: Recorder, db: AsyncDb
    ) -> None:
        await self.full(home)
        room_id = home.room.room_id
        await home.service.invite(room_id, INES.id, MIA)
        await outcomes(
            home.service.join(room_id, INES),
            home.service.delete_room(room_id),
            home.service.invite(room_id, "paul", MIA),
            home.service.say(room_id, "wait", MIA),
            home.listing("new"),
            home.wish(JONAS, price={"max": 4}),
        )
        await AsyncConsumer(db).drain()
        assert await db.find(Room.key(room_id=room_id)) is None
        assert await in_rooms(client) == []

    async def test_a_deletion_that_was_cut_off_goes_on(
        self,
        home: Home,
        client: Recorder,
        db: AsyncDb,
        clock: ManualClock,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        for number in range(100):
            await home.service.say(home.room.room_id, str(number), MIA)
        await home.service.delete_room(home.room.room_id)
        call, left = client.call, 2

        async def failing(operation: str, request: Any) -> dict[str, Any]:
            nonlocal left
            left -= operation == "TransactWriteItems"
            if left < 0:
                raise asyncio.CancelledError
            return await call(operation, request)

        monkeypatch.setattr(client, "call", failing)
        with pytest.raises(asyncio.CancelledError):
            await AsyncConsumer(db).drain()
        monkeypatch.undo()
        assert await in_rooms(client) != []
        report = await db.run(verification(db.context))
        assert not report.clean
        # Another consumer takes over when the first one's lease has run out.
        clock.advance(3600)
        await AsyncConsumer(db).drain()
        assert await in_rooms(client) == []

    async def test_a_room_is_deleted_once(self, home: Home) -> None:
        done, refused = await outcomes(
            *(home.service.delete_room(home.room.room_id) for _ in range(3))
        )
        assert len(done) == 1
        assert {type(one) for one in refused} == {NotFound}


async def test_a_copilot_says_something_where_it_is_let_in(home: Home) -> None:
    pilot = Identity.of("pilot", "ai_copilot")
    room_id = home.room.room_id
    verdicts = await home.service.verdicts("advise", {"pilot": pilot}, room_id=room_id)
    assert verdicts == {"pilot": 403}
    await home.service.update_room(room_id, RoomChange(has_copilot=True), MIA)
    callers = {"pilot": pilot, "mia": MIA}
    verdicts = await home.service.verdicts("advise", callers, room_id=room_id)
    assert verdicts == {"pilot": 200, "mia": 403}
    flat = await home.listing()
    said = await home.service.advise(room_id, "It fits the budget.", pilot, flat.listing_id)
    assert (said.sender_type, said.sender_id, said.about) == (
        "ai_copilot",
        "pilot",
        flat.listing_id,
    )


async def test_a_copilot_speaks_of_what_is_in_the_room(home: Home) -> None:
    pilot, room_id = Identity.of("pilot", "ai_copilot"), home.room.room_id
    elsewhere = await home.listing()
    await home.open()
    for about in (elsewhere.listing_id, "x" * 500):
        with pytest.raises(NotFound):
            await home.service.advise(home.room.room_id, "Look!", pilot, about)
    assert (await home.service.advise(room_id, "Look!", pilot)).about is None


async def test_what_is_made_is_answered_as_lists_show_it(home: Home) -> None:
    service, room_id = home.service, home.room.room_id
    made = await home.listing()
    assert made == await service.listing(room_id, made.listing_id, MIA)
    said = await service.say(room_id, "Hi", JONAS)
    assert said in (await service.activities(room_id, PAGE)).items
    link = await service.create_link(room_id, MIA)
    assert link in (await service.links(room_id, PAGE)).items
    joined = await service.join_by_link(room_id, link.link_id, INES)
    assert joined in (await service.members(room_id, PAGE)).items
    for role in (Role.OWNER, Role.OWNER):
        changed = await service.change_role(room_id, "ines", role, MIA)
        assert changed in (await service.members(room_id, PAGE)).items
    await service.leave(room_id, "ines", INES)
    assert await home.join(INES) in (await service.members(room_id, PAGE)).items
    await home.wish(MIA, price=1)
    combined = await service.combine_criteria(room_id, "all", MIA)
    assert combined == await service.combined(room_id)


async def test_a_message_is_from_somebody_and_expires_after_90_days(home: Home) -> None:
    said = await home.service.say(home.room.room_id, "Hi", JONAS)
    assert (said.sender_type, said.sender_id, said.type) == ("user", "jonas", "ChatMessage")
    assert said.ttl == NOW + timedelta(days=90)
    notes = await home.service.activities(home.room.room_id, PAGE)
    assert {one.sender_type for one in notes if one.type != "ChatMessage"} == {"system"}
