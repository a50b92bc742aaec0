"""Groups as friends use them: limits, privacy, removal, handing over, finding people."""

from __future__ import annotations

from typing import Any

import pytest

from keyfold import AsyncDb, create
from keyfold_web import Conflict, Identity, Missing, NotAllowed, PageRequest
from keyfold.errors import NotFound
from keyfold_systems.inviter.entities import Answer, Group, GroupInvitation, Response, User
from keyfold_systems.inviter.operations import groups as group_operations
from tests.systems.conftest import Recorder

from .conftest import Town
from .test_races import Interposed, clean, outcomes

PAGE = PageRequest(limit=50)


async def test_founding_keeps_to_the_limit_of_groups(
    town: Town, db: AsyncDb, monkeypatch: pytest.MonkeyPatch
) -> None:
    await town.settle()
    monkeypatch.setattr(group_operations, "MOST_GROUPS_OF_A_USER", 4)
    done, refused = await outcomes(
        *(town.service.create_group(f"G{n}", town.ada) for n in range(8))
    )
    assert len(done) == 3, "ada is in one already"
    assert {getattr(one, "code", "") for one in refused} == {"TOO_MANY"}
    assert (await db.get(User.key(user_id="ada"))).groups == 4


async def test_nothing_is_missing_from_the_list_of_who_is_in_more_groups_than_a_page_has(
    town: Town, db: AsyncDb
) -> None:
    await town.settle()
    ben = await town.service.person("ben")
    for number in range(205):
        # Founded before there was a limit.
        group = Group(group_id=f"g{number:03d}", name="G", owner_id="ben")
        await db.transact(create(group), create(group_operations.member_of(group, ben)))
    await town.service.join_group(group.group_id, town.ada)
    last = await town.hangout(group)
    cards = await town.service.my_hangouts("ben", PAGE)
    assert [one.hangout_id for one in cards] == [last.hangout_id]


async def test_an_owner_takes_a_member_out_and_their_answers_go(town: Town, db: AsyncDb) -> None:
    group = await town.settle()
    hangout = await town.hangout(group)
    await town.service.respond(hangout.hangout_id, Answer.GOING, town.ben)
    await town.drain()
    assert (await town.service.hangout(hangout.hangout_id)).going == 1
    await town.service.leave_group(group.group_id, "ben")
    await clean(db)
    assert (await town.service.hangout(hangout.hangout_id)).going == 0
    assert [one async for one in db.scan(Response)] == []


async def test_a_group_is_handed_over_to_a_member_who_stays(
    town: Town, db: AsyncDb, client: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = await town.settle()
    with monkeypatch.context() as patch:
        leave = town.service.leave_group
        Interposed(client, patch, act=lambda: leave(group.group_id, "ben"))
        with pytest.raises(Conflict, match="changed just now"):
            await town.service.hand_over_group(group.group_id, "ben", town.ada)
    await town.service.join_group(group.group_id, town.ben)
    handed = await town.service.hand_over_group(group.group_id, "ben", town.ada)
    assert handed.owner_id == "ben"
    with pytest.raises(Conflict, match="owner cannot leave"):
        await town.service.leave_group(group.group_id, "ben")
    await town.service.leave_group(group.group_id, "ada")
    await clean(db)
    owned = {user: (await db.get(User.key(user_id=user))).owned_groups for user in ("ada", "ben")}
    assert owned == {"ada": 0, "ben": 1}


@pytest.mark.parametrize(
    ("change", "owner"),
    [({"closing": True}, "ada"), ({"owner_id": "cleo"}, "cleo"), ({"leaving": True}, "ada")],
)
async def test_a_group_is_not_handed_over_when_something_changed_just_then(
    town: Town,
    db: AsyncDb,
    client: Recorder,
    monkeypatch: pytest.MonkeyPatch,
    change: dict[str, Any],
    owner: str,
) -> None:
    group = await town.settle()
    changed = (
        db.update(User.key(user_id="ben"), **change)
        if "leaving" in change
        else db.update(group.ref(), **change)
    )
    Interposed(client, monkeypatch, act=lambda: changed)
    with pytest.raises(Conflict, match="changed just now"):
        await town.service.hand_over_group(group.group_id, "ben", town.ada)
    assert (await db.get(group.ref())).owner_id == owner


async def test_a_private_group_is_joined_by_invitation_which_is_used_up(
    town: Town, db: AsyncDb
) -> None:
    group = await town.settle()
    await town.service.set_privacy(group.group_id, True)
    with pytest.raises(NotAllowed, match="private"):
        await town.service.join_group(group.group_id, town.cleo)
    await town.service.invite_to_group(group.group_id, "cleo", town.ben)
    with pytest.raises(Conflict, match="asked already"):
        await town.service.invite_to_group(group.group_id, "cleo", town.ada)
    [asked] = await town.service.invitations("cleo", PAGE)
    assert (asked.group_name, asked.invited_by_name) == ("Runners", "Ben A")
    assert [
        one.user_name for one in await town.service.group_invitations(group.group_id, PAGE)
    ] == ["Cleo A"]
    await town.service.join_group(group.group_id, town.cleo)
    assert [one async for one in db.scan(GroupInvitation)] == []
    await town.service.leave_group(group.group_id, "cleo")
    with pytest.raises(NotAllowed, match="private"):
        await town.service.join_group(group.group_id, town.cleo)


async def test_the_link_of_a_group_shows_what_one_would_join(town: Town, db: AsyncDb) -> None:
    group = await town.settle()
    shown = await town.service.linked_group(group.group_id, town.cleo)
    assert (shown.name, shown.members) == ("Runners", 2)
    await db.update(group.ref(), closing=True)
    for gone in (group.group_id, "none"):
        with pytest.raises(Missing):
            await town.service.linked_group(gone, town.cleo)


async def test_a_group_that_is_made_private_just_then_lets_nobody_in(
    town: Town, db: AsyncDb, client: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = await town.settle()
    hide = town.service.set_privacy
    Interposed(client, monkeypatch, act=lambda: hide(group.group_id, True))
    with pytest.raises(Conflict, match="private"):
        await town.service.join_group(group.group_id, town.cleo)
    assert (await db.get(Group.key(group_id=group.group_id))).members == 2


async def test_an_invitation_goes_with_its_group_and_with_who_declines(
    town: Town, db: AsyncDb
) -> None:
    group = await town.settle()
    other = await town.service.create_group("Others", town.ada)
    for one in (group, other):
        await town.service.invite_to_group(one.group_id, "cleo", town.ada)
    await town.service.decline_group(other.group_id, "cleo")
    with pytest.raises(NotFound):
        await town.service.decline_group(other.group_id, "cleo")
    await town.service.delete_group(group.group_id)
    await clean(db)
    assert [one async for one in db.scan(GroupInvitation)] == []


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("chl", ["Chloé Martin"]),
        ("CHLOÉ  m", ["Chloé Martin"]),
        ("c", ["Chloé Martin", "Cleo A"]),
        ("zoe", []),
        ("a#", ["Ada A", "Ada#Two"]),
    ],
)
async def test_people_are_found_by_the_beginning_of_their_name(
    town: Town, typed: str, found: list[str]
) -> None:
    await town.settle()
    await town.service.save_user("chloe", "Chloé Martin")
    await town.service.save_user("two", "Ada#Two")
    page = await town.service.people(typed, PAGE)
    assert [one.name for one in page] == found


async def test_a_renamed_person_is_found_by_the_new_name_alone(town: Town) -> None:
    await town.settle()
    await town.service.save_user("ben", "Émile")
    assert [one.user_id for one in await town.service.people("emi", PAGE)] == ["ben"]
    assert [one.user_id for one in await town.service.people("ben", PAGE)] == []


async def test_who_is_leaving_is_found_by_nobody(town: Town, db: AsyncDb) -> None:
    await town.settle()
    await db.update(User.key(user_id="ben"), leaving=True)
    assert (await town.service.people("ben", PAGE)).items == []
    with pytest.raises(Missing):
        await town.service.user("ben")


@pytest.mark.parametrize(
    ("name", "typed"), [("ﷺ" * 200, "صلى"), ("😀" * 200, "😀"), ("𝔸da", "ada"), ("İrem", "irem")]
)
async def test_a_name_of_any_letters_is_taken_and_found(town: Town, name: str, typed: str) -> None:
    await town.service.welcome(Identity.of("eve", name=name))
    assert (await town.service.user("eve")).name == name
    assert [one.user_id for one in await town.service.people(typed, PAGE)] == ["eve"]
    assert [one.user_id for one in await town.service.people(name, PAGE)] == ["eve"]


async def test_lists_of_groups_show_names_and_counts(town: Town, client: Recorder) -> None:
    group = await town.settle()
    await town.service.join_group(group.group_id, town.cleo)
    client.requests.clear()
    [card] = await town.service.groups("cleo", PAGE)
    assert (card.group_name, card.members, card.owner_name, card.private) == (
        "Runners",
        3,
        "Ada A",
        False,
    )
    assert [operation for operation, _ in client.requests] == ["Query", *["BatchGetItem"] * 2]


async def test_a_group_that_closes_is_shown_to_nobody(town: Town, db: AsyncDb) -> None:
    group = await town.settle()
    await db.update(group.ref(), closing=True)
    assert (await town.service.groups("ben", PAGE)).items == []
    with pytest.raises(Missing):
        await town.service.group(group.group_id)


@pytest.mark.parametrize("closing", [True, False])
async def test_nobody_is_asked_when_the_group_closes_or_they_leave_just_then(
    town: Town, db: AsyncDb, client: Recorder, monkeypatch: pytest.MonkeyPatch, closing: bool
) -> None:
    group = await town.settle()
    ends = (
        db.update(group.ref(), closing=True)
        if closing
        else db.update(User.key(user_id="cleo"), leaving=True)
    )
    Interposed(client, monkeypatch, act=lambda: ends)
    with pytest.raises(Conflict):
        await town.service.invite_to_group(group.group_id, "cleo", town.ada)
    assert [one async for one in db.scan(GroupInvitation)] == []


async def test_strangers_cannot_ask_anybody_into_a_group(town: Town) -> None:
    group = await town.settle()
    with pytest.raises(NotFound):
        await town.service.invite_to_group(group.group_id, "ben", Identity.of("nobody"))
