"""What is reported in Inviter, and what becomes of it."""

from __future__ import annotations

import pytest

from keyfold_web import Conflict, Identity, Invalid, PageRequest
from keyfold_systems.inviter.entities import Group, Hangout, User
from tests.systems.conftest import Recorder, served
from tests.systems.suspension import check_suspension

from .conftest import Town

MO, ROOT = Identity.of("mo", "moderator"), Identity.of("root", "admin")
PAGE = PageRequest(limit=10)


async def test_a_removed_hangout_leaves_every_list(town: Town) -> None:
    group = await town.settle()
    hangout = await town.hangout(group, user_ids={"cleo"})
    await town.service.report("hangout", hangout.hangout_id, "Selling something", caller=town.ben)
    [waiting] = await town.service.reports(PAGE)
    assert (waiting.owner_id, waiting.excerpt) == ("ada", "Run")
    assert (waiting.owner_name, waiting.reporter_name) == ("Ada A", "Ben A")
    await town.service.decide("hangout", hangout.hangout_id, "remove", "Advertising", caller=MO)
    await town.drain()
    assert (await town.service.group_feed(group.group_id, PAGE, town.ben)).items == []
    assert [one async for one in town.service.db.scan(Hangout)] == []
    [entry] = await town.service.audit(PAGE)
    assert (entry.by, entry.action, entry.note) == ("mo", "remove", "Advertising")
    told = await town.service.notifications("ada", PAGE)
    assert ("removed", "Run", "Advertising") in [(one.kind, one.title, one.text) for one in told]


async def test_only_guests_report_a_hangout(town: Town) -> None:
    hangout = await town.hangout(await town.settle())
    with pytest.raises(Invalid, match="unknown hangout"):
        await town.service.report("hangout", hangout.hangout_id, "Spam", caller=town.cleo)


async def test_a_removed_group_goes_with_all_that_is_its_own(town: Town) -> None:
    group = await town.settle()
    await town.hangout(group)
    await town.service.decide("group", group.group_id, "remove", "Abuse", caller=MO)
    await town.drain()
    assert [one async for one in town.service.db.scan(Group)] == []
    assert (await town.service.groups("ben", PAGE)).items == []


async def test_an_administrator_removes_a_person_after_their_groups(
    town: Town, client: Recorder
) -> None:
    group = await town.settle()
    await town.service.report("user", "ben", "Spam", caller=town.ada)
    with pytest.raises(Conflict, match="groups that they own"):
        await town.service.decide("user", "ada", "remove", "Abuse", caller=ROOT)
    await town.service.decide("group", group.group_id, "remove", "Abuse", caller=ROOT)
    await town.drain()
    await town.service.decide("user", "ada", "remove", "Abuse", caller=ROOT)
    await town.drain()
    assert sorted([one.user_id async for one in town.service.db.scan(User)]) == ["ben", "cleo"]
    # What somebody reported goes with them, and what was decided stays.
    assert (await town.service.reports(PAGE)).items == []
    left = [one for one in await client.items() if "ada" in str(one)]
    assert {one["PK"]["S"] for one in left} == {"AUDIT#2031-08"}


async def test_reports_about_somebody_go_with_them_and_those_of_a_group_stay(
    town: Town, client: Recorder
) -> None:
    group = await town.settle()
    hangout = await town.hangout(group)
    for kind, id in (("user", "ada"), ("hangout", hangout.hangout_id), ("group", group.group_id)):
        await town.service.report(kind, id, "Spam", caller=town.ben)
    await town.service.report("user", "cleo", "Spam", caller=town.ben)
    await town.service.hand_over_group(group.group_id, "ben", town.ada)
    await town.service.delete_user("ada")
    await town.drain()
    left = [(one.kind, one.owner_id) for one in await town.service.reports(PAGE)]
    assert left == [("group", None), ("user", "cleo")]
    assert [one for one in await client.items() if "'ada'" in str(one) or "Ada" in str(one)] == []


async def test_who_is_suspended_leaves_with_the_groups_they_own(town: Town) -> None:
    group = await town.settle()
    other = await town.service.create_group("Swimmers", town.ada)
    async with served(town.service) as web:
        suspend = {"hours": 2, "reason": "Spam"}
        assert (await web["mo:moderator"].put("/users/ada/suspension", json=suspend)).is_success
        ada = web["ada"]
        assert (await ada.patch(f"/groups/{group.group_id}", json={"name": "X"})).status_code == 403
        heir = {"userId": "ben"}
        assert (await ada.put(f"/groups/{group.group_id}/owner", json=heir)).status_code == 200
        assert (await ada.delete(f"/groups/{other.group_id}")).status_code == 204
        assert (await ada.delete("/users/ada")).status_code == 204


async def test_who_is_suspended_reads_and_does_not_write(town: Town) -> None:
    await town.settle()
    write = "PUT", "/users/ben", {"name": "Ben B"}
    await check_suspension(town.service, "ben", write, "/users/ben/groups")
