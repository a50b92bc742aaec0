"""Coming into a room: asked by an owner, and joined, declined, withdrawn or too late."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from keyfold import AsyncDb
from keyfold_web import Conflict, Identity, Missing, NotAllowed, PageRequest, Refused
from keyfold_engine.clock import ManualClock
from keyfold.errors import NotFound
from keyfold.maintain import verification
from keyfold.streams import AsyncConsumer
from keyfold_systems.search_room.entities import (
    INVITATION_DAYS,
    MOST_MEMBERS,
    Invitation,
    Member,
    Role,
)
from keyfold_systems.search_room.payloads import RoomChange
from tests.systems.conftest import Recorder

from .conftest import INES, JONAS, MIA, NOW, Home, in_rooms

PAGE = PageRequest(limit=50)


async def invite(home: Home, role: Role = Role.MEMBER) -> Invitation:
    return await home.service.invite(home.room.room_id, INES.id, MIA, role)


async def shown(home: Home) -> tuple[list[str], list[str]]:
    """What the room's list and Ines's list say."""
    in_room = await home.service.invitations(home.room.room_id, PAGE)
    hers = await home.service.my_invitations(INES.id, PAGE)
    return [one.status.value for one in in_room], [one.room_name for one in hers]


async def test_an_invitation_is_seen_from_the_room_and_from_who_is_asked(home: Home) -> None:
    asked = await invite(home)
    assert (asked.status, asked.invited_by) == ("pending", "mia")
    assert asked.expires_at == NOW + timedelta(days=INVITATION_DAYS)
    assert await shown(home) == (["pending"], ["Ours"])


async def test_its_keys_lie_beside_the_members_and_the_users_rooms(
    home: Home, client: Recorder
) -> None:
    await invite(home)
    room = f"ROOM#{home.room.room_id}"
    keys = [(one["PK"]["S"], one["SK"]["S"]) for one in await client.items()]
    assert (room, "INVITATION#ines") in keys
    assert ("USER#ines", f"INVITATION#{home.room.room_id}") in keys


async def test_joining_accepts_it_and_leaves_none(home: Home) -> None:
    await invite(home, Role.OWNER)
    joined = await home.service.join(home.room.room_id, INES)
    assert (joined.user_id, joined.role, joined.room_name) == ("ines", Role.OWNER, "Ours")
    assert await shown(home) == ([], [])
    with pytest.raises(Conflict, match="member already") as again:
        await home.service.join(home.room.room_id, INES)
    assert again.value.code == "ALREADY_MEMBER"


async def test_nobody_joins_uninvited(home: Home, db: AsyncDb) -> None:
    with pytest.raises(NotAllowed, match="not invited") as refused:
        await home.service.join(home.room.room_id, INES)
    assert refused.value.code == "NOT_INVITED"
    assert await db.find(Member.key(room_id=home.room.room_id, user_id="ines")) is None


async def test_who_is_asked_is_asked_once_and_members_not_at_all(home: Home) -> None:
    done = await asyncio.gather(*(invite(home) for _ in range(5)), return_exceptions=True)
    refused = [one for one in done if isinstance(one, Conflict)]
    assert (len(refused), {one.code for one in refused}) == (4, {"ALREADY_INVITED"})
    with pytest.raises(Conflict) as member:
        await home.service.invite(home.room.room_id, JONAS.id, MIA)
    assert member.value.code == "ALREADY_MEMBER"


async def test_who_declined_cannot_join_but_be_asked_again(home: Home) -> None:
    await invite(home)
    await home.service.decline(INES.id, home.room.room_id)
    assert await shown(home) == (["declined"], [])
    with pytest.raises(NotAllowed):
        await home.service.join(home.room.room_id, INES)
    with pytest.raises(Missing):
        await home.service.decline(INES.id, home.room.room_id)
    await invite(home)
    assert await shown(home) == (["pending"], ["Ours"])
    await home.service.join(home.room.room_id, INES)


async def test_a_withdrawn_invitation_is_gone(home: Home) -> None:
    await invite(home)
    await home.service.withdraw(home.room.room_id, INES.id, MIA)
    assert await shown(home) == ([], [])
    with pytest.raises(NotAllowed):
        await home.service.join(home.room.room_id, INES)
    with pytest.raises(Missing):
        await home.service.withdraw(home.room.room_id, INES.id, MIA)


async def test_an_expired_invitation_counts_for_nothing_though_it_is_still_stored(
    home: Home, clock: ManualClock, client: Recorder
) -> None:
    await invite(home)
    clock.advance(timedelta(days=INVITATION_DAYS).total_seconds())
    assert any(one["SK"]["S"] == "INVITATION#ines" for one in await client.items())
    assert await shown(home) == ([], [])
    with pytest.raises(NotAllowed):
        await home.service.join(home.room.room_id, INES)
    with pytest.raises(Missing):
        await home.service.decline(INES.id, home.room.room_id)
    with pytest.raises(Missing):
        await home.service.withdraw(home.room.room_id, INES.id, MIA)
    await invite(home)
    assert await shown(home) == (["pending"], ["Ours"])
    await home.service.join(home.room.room_id, INES)


async def test_one_answer_counts_when_several_are_given_at_once(home: Home, db: AsyncDb) -> None:
    await invite(home)
    room_id = home.room.room_id
    done = await asyncio.gather(
        home.service.join(room_id, INES),
        home.service.decline(INES.id, room_id),
        home.service.withdraw(room_id, INES.id, MIA),
        home.service.join(room_id, INES),
        return_exceptions=True,
    )
    refused = [one for one in done if isinstance(one, BaseException)]
    assert len(refused) == 3
    assert {type(one) for one in refused} <= {Conflict, Missing, NotAllowed}
    assert all(isinstance(one, Refused) for one in refused)
    assert (await db.run(verification(db.context))).clean


async def test_a_renamed_room_is_renamed_in_its_invitations(home: Home, db: AsyncDb) -> None:
    await invite(home)
    await home.service.update_room(home.room.room_id, RoomChange(name="Theirs"), MIA)
    await AsyncConsumer(db).drain()
    assert await shown(home) == (["pending"], ["Theirs"])


async def test_invitations_go_with_the_room_and_nobody_joins_it_any_more(
    home: Home, client: Recorder, db: AsyncDb
) -> None:
    await invite(home)
    for number in range(60):
        await home.meet(Identity.of(f"guest{number}"))
        await home.service.invite(home.room.room_id, f"guest{number}", MIA)
    await home.service.delete_room(home.room.room_id)
    with pytest.raises(NotAllowed):
        await home.service.join(home.room.room_id, INES)
    with pytest.raises(NotFound):
        await invite(home)
    with pytest.raises(Missing):
        await home.service.decline(INES.id, home.room.room_id)
    await AsyncConsumer(db).drain()
    # That they were asked is known to them alone.
    assert {one["SK"]["S"].partition("#")[0] for one in await in_rooms(client)} == {"ASKED"}


async def test_only_who_exists_can_be_asked(home: Home, client: Recorder) -> None:
    before = await client.items()
    with pytest.raises(Missing, match="give them a link") as refused:
        await home.service.invite(home.room.room_id, "nobody", MIA)
    assert refused.value.code == "NOBODY"
    assert await client.items() == before


async def test_whoever_has_a_link_can_join(home: Home) -> None:
    room_id = home.room.room_id
    link = await home.service.create_link(room_id, MIA)
    shown = await home.service.link(room_id, link.link_id)
    assert (shown.room_name, shown.invited_by_name) == ("Ours", "Mia")
    assert len(link.link_id) > 20
    for who in (INES, Identity.of("paul")):
        await home.service.welcome(who)
        joined = await home.service.join_by_link(room_id, link.link_id, who)
        assert (joined.user_id, joined.role) == (who.id, Role.MEMBER)
    with pytest.raises(Conflict) as again:
        await home.service.join_by_link(room_id, link.link_id, INES)
    assert again.value.code == "ALREADY_MEMBER"


async def test_who_was_asked_and_joins_by_a_link_leaves_no_invitation(home: Home) -> None:
    await invite(home)
    link = await home.service.create_link(home.room.room_id, MIA)
    await home.service.join_by_link(home.room.room_id, link.link_id, INES)
    assert await shown(home) == ([], [])


@pytest.mark.parametrize("ended", ["revoked", "expired", "guessed"])
async def test_a_link_that_is_none_lets_nobody_in(
    home: Home, clock: ManualClock, ended: str
) -> None:
    room_id = home.room.room_id
    link = await home.service.create_link(room_id, MIA)
    used = link.link_id
    if ended == "revoked":
        await home.service.revoke_link(room_id, used, MIA)
    elif ended == "expired":
        clock.advance(timedelta(days=INVITATION_DAYS).total_seconds())
    else:
        used = "guessed"
    for asked in (
        home.service.link(room_id, used),
        home.service.join_by_link(room_id, used, INES),
        home.service.join_by_link("none", used, INES),
    ):
        with pytest.raises(Missing) as refused:
            await asked
        assert refused.value.code == "NO_LINK"


async def test_a_full_room_takes_nobody_by_a_link(home: Home) -> None:
    link = await home.service.create_link(home.room.room_id, MIA)
    many = [Identity.of(f"u{number}") for number in range(MOST_MEMBERS + 3)]
    for one in many:
        await home.service.welcome(one)
    calls = [home.service.join_by_link(home.room.room_id, link.link_id, one) for one in many]
    done = await asyncio.gather(*calls, return_exceptions=True)
    refused = [one for one in done if isinstance(one, Conflict)]
    assert (len(refused), {one.code for one in refused}) == (5, {"FULL"})
