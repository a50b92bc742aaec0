"""Listings: their way from status to status, who saw and liked them, and what a list shows."""

from __future__ import annotations

import asyncio

import pytest
from pydantic import ValidationError

from keyfold import AsyncDb
from keyfold_web import Conflict, Identity, PageRequest
from keyfold.errors import VersionConflict
from keyfold_systems.search_room.entities import MOST_MEMBERS, Listing
from keyfold_systems.search_room.payloads import ListingChange, RoomChange
from keyfold_systems.search_room.status import STEPS, Status
from tests.systems.conftest import Recorder, served

from .conftest import INES, JONAS, MIA, Home

PAGE = PageRequest(limit=50)
WAY = (Status.SEEN, Status.VISIT_PLANNED, Status.VISITED, Status.APPLIED, Status.ACCEPTED)


async def move(home: Home, listing: Listing, status: Status) -> Listing:
    address = home.room.room_id, listing.listing_id
    return await home.service.update_listing(*address, ListingChange(status=status), MIA)


async def test_a_listing_goes_its_way_and_no_other(home: Home) -> None:
    made = await home.listing()
    for status in WAY:
        skipped = {*Status} - {made.status, *STEPS.after(made.status)}
        for wrong in sorted(skipped):
            with pytest.raises(Conflict, match=f"that is {made.status} can become") as refused:
                await move(home, made, Status(wrong))
            assert refused.value.code == "WRONG_STEP"
        made = await move(home, made, status)
        assert made.status == status
        assert made.next_steps == [Status(one) for one in STEPS.after(status)]


async def test_what_was_dropped_can_be_reconsidered_and_the_same_status_is_no_step(
    home: Home,
) -> None:
    made = await home.listing()
    await move(home, made, Status.REJECTED)
    again = await move(home, made, Status.REJECTED)
    assert (again.status, again.version) == (Status.REJECTED, 2)
    assert (await move(home, made, Status.SEEN)).status == Status.SEEN


async def test_who_changes_nothing_of_an_older_version_is_told_so_too(home: Home) -> None:
    made = await home.listing()
    address = home.room.room_id, made.listing_id
    for nothing in (ListingChange(), ListingChange(status=made.status)):
        with pytest.raises(VersionConflict):
            await home.service.update_listing(*address, nothing, MIA, expected_version=99)
        same = await home.service.update_listing(*address, nothing, MIA, expected_version=1)
        assert same == made
    with pytest.raises(VersionConflict):
        await home.service.update_room(home.room.room_id, RoomChange(), MIA, expected_version=99)


async def test_of_two_who_move_a_listing_at_once_one_is_told(home: Home) -> None:
    made = await move(home, await home.listing(), Status.VISIT_PLANNED)
    calls = [move(home, made, Status.VISITED), move(home, made, Status.SEEN)]
    done = await asyncio.gather(*calls, return_exceptions=True)
    moved = [one for one in done if isinstance(one, Listing)]
    assert len(moved) == 1


async def test_looking_at_a_listing_makes_nobody_s_edit_fail(home: Home) -> None:
    """Seen and votes are no edits: the version stays."""
    made = await move(home, await home.listing(), Status.SEEN)
    address = home.room.room_id, made.listing_id
    seen = await home.service.mark_seen(*address, JONAS)
    liked = await home.service.vote(*address, JONAS, "like")
    assert (seen.version, liked.version) == (made.version, made.version)
    change = ListingChange(title="Edited")
    edited = await home.service.update_listing(*address, change, MIA, made.version)
    assert (edited.title, edited.seen_by, edited.liked_by) == ("Edited", {"jonas"}, {"jonas"})


async def test_who_asks_again_gets_what_others_saw_and_liked_meanwhile(home: Home) -> None:
    made = await move(home, await home.listing(), Status.SEEN)
    url = f"/rooms/{home.room.room_id}/listings/{made.listing_id}"
    async with served(home.service) as web:
        first = await web["mia"].get(url)
        known = {"if-none-match": first.headers["etag"]}
        assert (await web["mia"].get(url, headers=known)).status_code == 304
        await home.service.vote(home.room.room_id, made.listing_id, JONAS, "like")
        again = await web["mia"].get(url, headers=known)
        assert (again.status_code, again.json()["likedBy"]) == (200, ["jonas"])
        # The tag is another, and its version is the same: an edit on what was read goes through.
        sent = {"if-match": first.headers["etag"]}
        edited = await web["mia"].patch(url, json={"title": "Edited"}, headers=sent)
        assert edited.status_code == 200


async def test_who_saw_it_are_never_more_than_a_room_holds(home: Home, db: AsyncDb) -> None:
    """Members come and go; those who left make place."""
    made = await move(home, await home.listing(), Status.SEEN)
    gone = {f"gone{number}" for number in range(MOST_MEMBERS - 1)}
    await db.update(made.ref(), seen_by={"mia", *gone})
    seen = await home.service.mark_seen(home.room.room_id, made.listing_id, JONAS)
    assert seen.seen_by == {"mia", "jonas"}


async def test_everybody_has_one_vote_and_can_take_it_back(home: Home) -> None:
    made = await home.listing()
    address = home.room.room_id, made.listing_id
    await asyncio.gather(
        home.service.vote(*address, MIA, "like"), home.service.vote(*address, JONAS, "like")
    )
    changed = await home.service.vote(*address, JONAS, "dislike")
    assert (changed.liked_by, changed.disliked_by, changed.vote) == ({"mia"}, {"jonas"}, "dislike")
    back = await home.service.vote(*address, JONAS)
    assert (back.disliked_by, back.vote) == (set(), None)


async def test_a_list_shows_names_and_what_the_caller_did(home: Home, client: Recorder) -> None:
    for number in range(3):
        await home.listing(str(number))
    first = (await home.service.listings(home.room.room_id, PAGE, JONAS))[0]
    await home.service.vote(home.room.room_id, first.listing_id, JONAS, "like")
    await home.service.mark_seen(home.room.room_id, first.listing_id, JONAS)
    client.requests.clear()
    shown = await home.service.listings(home.room.room_id, PAGE, JONAS)
    assert [operation for operation, _ in client.requests] == ["Query", "BatchGetItem"]
    assert [(x.added_by_name, x.seen, x.vote) for x in shown] == [
        ("Mia", True, "like"),
        ("Mia", False, None),
        ("Mia", False, None),
    ]


FLATS = (
    {"title": "Small flat", "location": "Bern", "price": 1200, "rooms": 2, "surface": 45},
    {"title": "Big flat", "location": "Bern", "price": 2600.5, "rooms": 4.5, "surface": 110},
    {"title": "House", "location": "Thun", "price": 3900, "rooms": 6, "surface": 150},
    {"title": "Ask us", "location": "Thun"},
)


@pytest.mark.parametrize(
    ("asked", "titles"),
    [
        ({}, ["Ask us", "House", "Big flat", "Small flat"]),
        ({"max_price": 2600.5}, ["Big flat", "Small flat"]),
        ({"min_price": 1201, "max_price": 3000}, ["Big flat"]),
        ({"min_rooms": 4.5}, ["House", "Big flat"]),
        ({"min_surface": 120}, ["House"]),
        ({"location": "Thun"}, ["Ask us", "House"]),
        ({"text": "flat", "location": "Bern"}, ["Big flat", "Small flat"]),
        ({"text": "house"}, ["House"]),
        ({"text": "FLAT"}, ["Big flat", "Small flat"]),
        ({"status": Status.SEEN}, ["Small flat"]),
        ({"status": Status.SEEN, "min_price": 2000}, []),
    ],
)
async def test_filters_give_what_fits(
    home: Home, asked: dict[str, object], titles: list[str]
) -> None:
    made = [await home.listing(**flat) for flat in FLATS]
    await move(home, made[0], Status.SEEN)
    found = await home.service.listings(home.room.room_id, PAGE, MIA, **asked)  # type: ignore[arg-type]
    assert [one.title for one in found] == titles


async def test_price_link_and_picture_are_kept_and_null_clears_them(home: Home) -> None:
    url = f"/rooms/{home.room.room_id}/listings"
    told = {"price": 1999.9, "link": "https://a.example/1", "picture": "https://a.example/1.jpg"}
    async with served(home.service) as web:
        sent = {"sourceBrand": "homegate", "title": "Flat", "location": "Bern", **told}
        made = (await web["mia"].post(url, json=sent)).json()
        assert {name: made[name] for name in told} == told
        place = f"{url}/{made['listingId']}"
        cleared = dict.fromkeys([*told, "location"])
        after = (await web["mia"].patch(place, json=cleared)).json()
        assert [after[name] for name in told] == [None, None, None]
        assert (after["title"], after["location"]) == ("Flat", "")


async def test_blanks_around_what_is_typed_make_no_other_listing(home: Home) -> None:
    made = await home.listing(" 7 ", source_brand=" homegate", location=" Bern ")
    assert (made.source_brand, made.external_id, made.location) == ("homegate", "7", "Bern")
    with pytest.raises(Conflict) as refused:
        await home.listing("7")
    assert refused.value.code == "DUPLICATE"
    for blank in ({"source_brand": " "}, {"external_id": " "}):
        with pytest.raises(ValidationError):
            await home.listing(**blank)


async def test_who_is_not_in_the_room_sees_no_listing(home: Home) -> None:
    verdicts = await home.service.verdicts("listings", {"ines": INES}, room_id=home.room.room_id)
    assert verdicts == {"ines": 403}
    assert Identity.of("pilot", "ai_copilot").groups == {"ai_copilot"}
