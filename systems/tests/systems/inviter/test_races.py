"""People who do things at once, in the moments in which a document's rule could break."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest

from keyfold import AsyncDb
from keyfold_web import Conflict, Identity, PageRequest
from keyfold.errors import KeyfoldError, NotFound
from keyfold.maintain import verification
from keyfold.streams import AsyncConsumer
from keyfold_systems.inviter.entities import (
    MOST_GROUPS_INVITED,
    MOST_USERS_INVITED,
    Answer,
    Group,
    GroupHangout,
    Hangout,
    Membership,
    Response,
    User,
    UserHangout,
)
from keyfold_systems.inviter.operations import groups as group_operations
from keyfold_systems.inviter.payloads import Guests, HangoutChange, NewHangout
from tests.systems.conftest import Recorder

from .conftest import NOW, Town

PAGE = PageRequest(limit=50)


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


class Interposed:
    """Does something else just before the next write of a client."""

    def __init__(self, client: Recorder, monkeypatch: pytest.MonkeyPatch, *, act: Any) -> None:
        self._call, self._act = client.call, act
        monkeypatch.setattr(client, "call", self)

    async def __call__(self, operation: str, request: Any) -> dict[str, Any]:
        if self._act is not None and operation == "TransactWriteItems":
            act, self._act = self._act, None
            await act()
        return await self._call(operation, request)


async def test_a_group_that_closes_just_then_takes_no_hangout(
    town: Town, db: AsyncDb, client: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = await town.settle()
    closing = Group.key(group_id=group.group_id)
    Interposed(client, monkeypatch, act=lambda: db.update(closing, closing=True))
    with pytest.raises(Conflict, match="closed"):
        await town.hangout(group)
    assert [one async for one in db.scan(GroupHangout)] == []


async def test_a_group_that_is_deleted_just_then_keeps_no_pointer(
    town: Town, db: AsyncDb, client: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = await town.settle()
    Interposed(client, monkeypatch, act=lambda: town.service.delete_group(group.group_id))
    with pytest.raises((NotFound, Conflict)):
        await town.hangout(group)
    assert [one async for one in db.scan(GroupHangout)] == []


async def test_a_group_that_closes_just_then_takes_no_member(
    town: Town, db: AsyncDb, client: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = await town.settle()
    ref = Group.key(group_id=group.group_id)
    Interposed(client, monkeypatch, act=lambda: db.update(ref, closing=True))
    with pytest.raises(Conflict, match="closed"):
        await town.service.join_group(group.group_id, town.cleo)
    assert await db.find(Membership.key(group_id=group.group_id, user_id="cleo")) is None


async def test_a_user_who_leaves_just_then_is_not_invited(
    town: Town, db: AsyncDb, client: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = await town.settle()
    Interposed(client, monkeypatch, act=lambda: town.service.delete_user("cleo"))
    with pytest.raises((NotFound, Conflict)):
        await town.hangout(group, user_ids={"cleo"})
    assert [one async for one in db.scan(UserHangout)] == []


async def test_who_is_leaving_just_then_neither_hosts_nor_answers(
    town: Town, db: AsyncDb, client: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = await town.settle()
    hangout = await town.hangout(group)

    def leaves(user: str) -> None:
        """Marked, with all that is theirs still there."""
        ref = User.key(user_id=user)
        Interposed(client, monkeypatch, act=lambda: db.update(ref, leaving=True))

    leaves("ben")
    with pytest.raises(KeyfoldError):
        await town.service.respond(hangout.hangout_id, Answer.GOING, town.ben)
    assert [one async for one in db.scan(Response)] == []
    leaves("ada")
    with pytest.raises(KeyfoldError):
        await town.hangout(group)
    assert [one async for one in db.scan(Hangout)] == [await db.get(hangout.ref())]


async def test_a_user_who_leaves_just_then_leaves_no_answer(
    town: Town, db: AsyncDb, client: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = await town.settle()
    hangout = await town.hangout(group)
    Interposed(client, monkeypatch, act=lambda: town.service.delete_user("ben"))
    with pytest.raises(NotFound):
        await town.service.respond(hangout.hangout_id, Answer.GOING, town.ben)
    assert [one async for one in db.scan(Response)] == []
    assert (await db.get(hangout.ref())).going == 0


async def test_a_name_that_changes_while_somebody_joins_reaches_them(
    town: Town, db: AsyncDb, client: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = await town.settle()
    rename = town.service.rename_group
    Interposed(client, monkeypatch, act=lambda: rename(group.group_id, "Sprinters"))
    await town.service.join_group(group.group_id, town.cleo)
    await clean(db)
    members = await town.service.members(group.group_id, PAGE)
    assert {one.group_name for one in members} == {"Sprinters"}


async def test_an_answer_and_a_deletion_at_once_leave_nothing(
    town: Town, db: AsyncDb, client: Recorder
) -> None:
    group = await town.settle()
    hangout = await town.hangout(group, user_ids={"ben", "cleo"})
    await outcomes(
        town.service.respond(hangout.hangout_id, Answer.GOING, town.ben),
        town.service.delete_hangout(hangout.hangout_id),
        town.service.respond(hangout.hangout_id, Answer.MAYBE, town.cleo),
        town.service.update_hangout(hangout.hangout_id, HangoutChange(title="Late")),
    )
    await clean(db)
    kinds = {item["type"]["S"] for item in await client.items()}
    assert kinds - {"Notification"} == {"User", "Group", "Membership"}


async def test_nobody_is_a_member_twice(town: Town, db: AsyncDb) -> None:
    group = await town.settle()
    done, refused = await outcomes(
        *(town.service.join_group(group.group_id, town.cleo) for _ in range(6))
    )
    assert len(done) == 1
    assert {getattr(one, "code", "") for one in refused} == {"ALREADY_MEMBER"}
    assert (await db.get(Group.key(group_id=group.group_id))).members == 3


async def test_a_user_is_in_no_more_groups_than_one_list_can_merge(
    town: Town, db: AsyncDb, monkeypatch: pytest.MonkeyPatch
) -> None:
    await town.settle()
    groups = [await town.service.create_group(f"G{n}", town.ada) for n in range(8)]
    monkeypatch.setattr(group_operations, "MOST_GROUPS_OF_A_USER", 4)
    done, refused = await outcomes(
        *(town.service.join_group(one.group_id, town.cleo) for one in groups)
    )
    assert len(done) == 4
    assert len(refused) == 4
    assert (await db.get(User.key(user_id="cleo"))).groups == 4


async def test_an_owner_deletes_or_keeps_the_group(town: Town, db: AsyncDb) -> None:
    group = await town.settle()
    with pytest.raises(Conflict, match="own"):
        await town.service.delete_user("ada")
    assert await db.find(User.key(user_id="ada")) is not None
    await town.service.delete_group(group.group_id)
    await town.service.delete_user("ada")
    assert await db.find(User.key(user_id="ada")) is None


async def test_a_deletion_that_was_cut_off_can_be_repeated(
    town: Town, db: AsyncDb, client: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = await town.settle()
    for hour in range(4):
        await town.hangout(group, hours=hour + 1, user_ids={"ben"})
    call, writes = client.call, 3

    async def failing(operation: str, request: Any) -> dict[str, Any]:
        nonlocal writes
        writes -= operation not in ("Query", "GetItem", "BatchGetItem")
        if writes < 0:
            raise asyncio.CancelledError
        return await call(operation, request)

    deletions: list[Callable[[], Awaitable[None]]] = [
        lambda: town.service.delete_user("ben"),
        lambda: town.service.delete_group(group.group_id),
    ]
    for delete in deletions:
        writes = 3
        with monkeypatch.context() as patch:
            patch.setattr(client, "call", failing)
            with pytest.raises(asyncio.CancelledError):
                await delete()
        await delete()
    await clean(db)
    pointers = [
        i["PK"]["S"]
        for i in await client.items()
        if i["type"]["S"] in ("GroupHangout", "UserHangout")
    ]
    assert set(pointers) == {"USER#ada"}, "the host's own"
    assert {one.user_id async for one in db.scan(User)} == {"ada", "cleo"}


async def test_the_largest_hangout_is_made_changed_answered_and_deleted(
    town: Town, db: AsyncDb
) -> None:
    await town.settle()
    groups = [
        (await town.service.create_group(f"G{n}", town.ada)).group_id
        for n in range(MOST_GROUPS_INVITED)
    ]
    users = [f"u{n}" for n in range(MOST_USERS_INVITED)]
    for user in users:
        await town.service.save_user(user, user)
    new = NewHangout(
        title="All",
        starts_at=NOW + timedelta(hours=1),
        ends_at=NOW + timedelta(hours=2),
        group_ids=set(groups),
        user_ids=set(users),
    )
    made = await town.service.create_hangout(new, town.ada)
    await town.service.update_hangout(made.hangout_id, HangoutChange(title="Everybody"))
    await town.service.respond(made.hangout_id, Answer.GOING, Identity.of(users[0]))
    await clean(db)
    for one in (*users[:2], "ada"):
        cards = await town.service.my_hangouts(one, PAGE)
        assert [(card.title, card.going) for card in cards] == [("Everybody", 1)]
    more = Guests(user_ids={"ben"})
    with pytest.raises(KeyfoldError, match="more than 30"):
        await town.service.invite(made.hangout_id, more, town.ada)
    another = await town.service.create_group("One more", town.ada)
    with pytest.raises(KeyfoldError, match="more than 15 groups"):
        await town.service.invite(made.hangout_id, Guests(group_ids={another.group_id}), town.ada)
    await town.service.delete_hangout(made.hangout_id)
    await clean(db)
    assert [one async for one in db.scan(UserHangout)] == []
