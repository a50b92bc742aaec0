"""Somebody takes their data along and leaves: nothing of them stays, wherever it was broken off."""

from __future__ import annotations

import random
from collections import Counter
from contextlib import suppress

import pytest

from keyfold_web import Identity, PageRequest
from keyfold.maintain.feed.removed_list import SETTLED_AFTER
from keyfold.streams import AsyncConsumer
from keyfold_systems.tamafriends.entities import Credential, home
from keyfold_systems.tamafriends.payloads import Login, NewAccount, NewReport
from tests.systems.opening import LATER, forget_progress, sweep
from tests.systems.tamafriends.test_histories import Crash, Interleaved

from .conftest import LENA, OMAR, YUKI, World

pytestmark = LATER
MODERATOR = Identity.of("mod", "moderator")
NEW = NewAccount(
    email="mia@example.com",
    username="mia.m",
    handle="mia_m",
    display_name="Mia M.",
    password="correct horse",
)


async def lived(world: World) -> Identity:
    """Mia, who did everything that one can do here."""
    service = world.service
    mia = Identity.of((await service.sign_up(NEW)).user_id)
    await service.sign_in(Login(login="@mia_m", password="correct horse"))
    post, short, others = (
        await world.post(mia),
        await world.post(mia, hours=1),
        await world.post(OMAR),
    )
    for who, whose in ((OMAR, post), (LENA, short), (mia, others), (mia, post)):
        await world.like(who, whose)
        await world.comment(who, whose)
    for who, other in ((mia, OMAR), (OMAR, mia), (LENA, mia)):
        await world.follow(who, other)
    rude, odd = [await world.comment(YUKI, post, text) for text in ("Rude", "Odd")]
    await service.remove_comment(post.post_id, rude.comment_id, "Abuse", caller=MODERATOR)
    about_others = {"kind": "comment", "target_id": odd.comment_id, "post_id": post.post_id}
    await service.report(NewReport.model_validate({**about_others, "reason": "spam"}), caller=OMAR)
    await service.block(mia.id, "yuki")
    await service.block("lena", mia.id)
    for who, kind, target in (
        (mia, "post", others.post_id),
        (OMAR, "post", post.post_id),
        (OMAR, "user", mia.id),
    ):
        report = {"kind": kind, "target_id": target, "reason": "spam"}
        await service.report(NewReport.model_validate(report), caller=who)
    await world.settle()
    for reader in (mia, OMAR):
        for _ in range(40):
            await home.page(world.db, reader.id, limit=5)
            world.sandbox.clock.advance(60)
    await world.settle()
    await world.post(mia, "Copied")
    await world.post(OMAR, "Copied too")
    await world.settle()
    return mia


async def traces(world: World, who: Identity) -> list[str]:
    """What still names somebody, in whatever attribute: its key, and whether it expires."""
    for _ in range(2):
        await world.settle()
        world.sandbox.clock.advance(SETTLED_AFTER.total_seconds() + 1)
        await sweep(world.db, world.sandbox, "tamafriends")
    await world.settle()
    found = [item for item in await world.items() if who.id in str(item)]
    return sorted(f"{item['PK']['S']} {item['SK']['S']} {'ttl' in item}" for item in found)


def assert_marks(left: list[str]) -> None:
    """What the README names: marks in feeds of former followers, which expire, and the ids of
    posts where somebody else's comment was removed or is reported.
    """
    *marks, notice, report = left
    assert notice.startswith("NOTICES#yuki NOTICE#")
    assert report.startswith("REPORTS REPORT#comment#")
    assert [one for one in marks if " SOURCE#" not in one] == []
    assert len(marks) <= 3
    assert [one for one in left if not one.endswith("True")] == [report]


async def test_nothing_of_who_left_stays(world: World) -> None:
    mia = await lived(world)
    assert len(await traces(world, mia)) > 30
    await world.service.delete_account(mia.id)
    await world.settle()
    assert_marks(await traces(world, mia))
    assert await world.drift() == []
    await forget_progress(world.db)
    await world.settle()
    assert_marks(await traces(world, mia))


@pytest.mark.parametrize("left", [3, 10, 20])
async def test_a_departure_that_is_broken_off_goes_on(local: World, left: int) -> None:
    mia = await lived(local)
    await local.service.delete_account(mia.id)
    quiet = local.db.client
    dying = Interleaved(quiet, random.Random(left))
    local.db.client = dying
    for _ in range(6):
        dying.left = left
        with suppress(Crash):
            await AsyncConsumer(local.db).run_once()
        local.sandbox.clock.advance(31)
    local.db.client = quiet
    assert dying.deaths > 0
    await local.settle()
    assert_marks(await traces(local, mia))


async def test_an_export_has_everything_page_by_page(world: World) -> None:
    mia = await lived(world)
    found: Counter[str] = Counter()
    cursor, text = None, ""
    while True:
        page = await world.service.personal_data(mia.id, PageRequest(limit=2, cursor=cursor))
        found.update(one.kind for one in page)
        text += str(page.items)
        cursor = page.cursor
        if cursor is None:
            break
    assert found == {
        "profile": 1,
        "posts": 2,
        "comments": 2,
        "likes": 2,
        "following": 1,
        "followers": 1,
        "blocks": 1,
        "notifications": 6,
        "reports": 1,
        "sessions": 2,
    }
    assert "mia@example.com" in text
    credential = await world.db.get(Credential.key(user_id=mia.id))
    assert str(credential.password) not in text


async def test_administrators_can_remove_an_account(world: World) -> None:
    mia = await lived(world)
    assert not (await world.service.delete_personal_data(mia.id, Identity.of("root", "admin"))).done
    await world.settle()
    assert (await world.service.delete_personal_data(mia.id, Identity.of("root", "admin"))).done
    assert_marks(await traces(world, mia))
