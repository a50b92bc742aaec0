"""Moderation: reports, removals, suspensions, roles, and the trail that each leaves."""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from keyfold_web import Identity, Invalid, Missing, NotAllowed
from keyfold_web.oversight import Decided
from keyfold_systems.tamafriends import promotion, sessions
from keyfold_systems.tamafriends.design import design
from keyfold_systems.tamafriends.entities import UserProfile
from keyfold_systems.tamafriends.oversight import AuditEntry, Suspension
from keyfold_systems.tamafriends.payloads import (
    Login,
    NewAccount,
    NewPost,
    NewReport,
    ProfileChange,
)
from tests.systems.opening import LATER, ask
from tests.systems.suspension import check_suspension
from tests.systems.tamafriends.test_histories import Crash, Interleaved

from .conftest import LENA, OMAR, PAGE, STRANGER, YUKI, World

pytestmark = LATER
MODERATOR, ROOT = Identity.of("mod", "moderator"), Identity.of("root", "admin")


def about(kind: str, target_id: str, **more: str) -> NewReport:
    given = {"kind": kind, "target_id": target_id, "reason": "spam", **more}
    return NewReport.model_validate(given)


async def trail(world: World) -> list[Decided]:
    return (await world.service.audit(PAGE)).items


async def test_reports_of_posts_comments_and_people_wait_with_what_they_are_about(
    world: World,
) -> None:
    post = await world.post(YUKI, "Buy this")
    said = await world.comment(OMAR, post, "Buy that")
    service = world.service
    await service.report(about("post", post.post_id), caller=LENA)
    await service.report(about("comment", said.comment_id, post_id=post.post_id), caller=LENA)
    await service.report(about("user", "yuki"), caller=LENA)
    waiting = await service.reports(PAGE)
    assert [(one.kind, one.author_id, one.excerpt) for one in waiting] == [
        ("comment", "omar", "Buy that"),
        ("post", "yuki", "Buy this"),
        ("user", "yuki", ""),
    ]


async def test_reports_and_decisions_have_the_names_of_people_whoever_blocks_whom(
    world: World,
) -> None:
    await world.join(MODERATOR)
    post = await world.post(YUKI)
    await world.service.report(about("post", post.post_id), caller=LENA)
    await world.service.block("yuki", MODERATOR.id)
    with world.db.work("reports") as work:
        [waiting] = await world.service.reports(PAGE)
    assert (waiting.user_name, waiting.author_name) == ("Lena", "Yuki")
    assert work.total.requests == 2
    await world.service.dismiss_reports("post", post.post_id, "Fine", caller=MODERATOR)
    assert [one.by_name for one in await trail(world)] == ["Mod"]
    await world.service.delete_account(MODERATOR.id)
    assert [one.by_name for one in await trail(world)] == [None]


@pytest.mark.parametrize(("blocker", "blocked"), [("yuki", "omar"), ("omar", "yuki")])
async def test_a_report_shows_nothing_that_a_block_keeps_away(
    world: World, blocker: str, blocked: str
) -> None:
    secret = "Not for Omar"
    await world.service.edit_profile("yuki", ProfileChange(bio=secret))
    post = await world.post(YUKI, secret)
    said = await world.comment(YUKI, post, secret)
    await world.service.block(blocker, blocked)
    for given in (
        about("post", post.post_id),
        about("comment", said.comment_id, post_id=post.post_id),
        about("user", "yuki"),
    ):
        assert secret not in str(await world.service.report(given, caller=OMAR))
    assert secret not in str((await world.service.personal_data("omar", PAGE)).items)
    assert [one.excerpt for one in await world.service.reports(PAGE)] == [secret] * 3


async def test_a_second_report_by_the_same_person_is_the_same(world: World) -> None:
    post = await world.post(YUKI)
    for _ in range(2):
        await world.service.report(about("post", post.post_id), caller=LENA)
    await world.service.report(about("post", post.post_id), caller=OMAR)
    assert len(await world.service.reports(PAGE)) == 2


async def test_what_is_not_there_or_ones_own_is_not_reported(world: World) -> None:
    post = await world.post(YUKI)
    with pytest.raises(Missing):
        await world.service.report(about("post", "none"), caller=LENA)
    with pytest.raises(Invalid, match="your own"):
        await world.service.report(about("post", post.post_id), caller=YUKI)
    with pytest.raises(Invalid, match="with its post"):
        await world.service.report(about("comment", "c"), caller=YUKI)
    assert (await world.service.reports(PAGE)).items == []


async def test_a_removal_closes_its_reports_tells_the_author_and_leaves_a_trail(
    world: World,
) -> None:
    post, other = await world.post(YUKI, "Buy this"), await world.post(YUKI)
    await world.service.report(about("post", post.post_id), caller=LENA)
    await world.service.report(about("post", other.post_id), caller=LENA)
    await world.service.remove_post(post.post_id, "Advertising", caller=MODERATOR)
    with pytest.raises(Missing):
        await world.service.post(post.post_id, caller=YUKI)
    assert [one.target_id for one in await world.service.reports(PAGE)] == [other.post_id]
    [told] = await world.service.notifications("yuki", PAGE)
    assert (told.kind, told.text, told.actor) == ("removal", "Advertising", None)
    [entry] = await trail(world)
    assert (entry.by, entry.action, entry.subject) == ("mod", "remove", f"post {post.post_id}")
    assert (entry.note, entry.excerpt) == ("Advertising", "Buy this")


async def test_a_comment_is_removed_alone(world: World) -> None:
    post = await world.post(YUKI)
    said = await world.comment(OMAR, post)
    await world.service.remove_comment(post.post_id, said.comment_id, "Abuse", caller=MODERATOR)
    await world.settle()
    assert await world.reactions(post) == (0, 0)
    assert (await world.service.comments(post.post_id, PAGE, caller=YUKI)).items == []
    assert [one.kind for one in await world.service.notifications("omar", PAGE)] == ["removal"]


async def test_dismissed_reports_leave_what_they_are_about(world: World) -> None:
    post = await world.post(YUKI)
    for who in (LENA, OMAR):
        await world.service.report(about("post", post.post_id), caller=who)
    await world.service.dismiss_reports("post", post.post_id, "A joke", caller=MODERATOR)
    assert (await world.service.reports(PAGE)).items == []
    assert (await world.service.post(post.post_id, caller=LENA)).text == "Look!"
    with pytest.raises(Missing, match="There are no reports of post"):
        await world.service.dismiss_reports("post", post.post_id, "Again", caller=MODERATOR)
    assert [one.action for one in await trail(world)] == ["dismiss"]


async def test_a_dismissal_that_is_broken_off_leaves_the_report_or_a_trail(local: World) -> None:
    await local.service.report(about("user", "yuki"), caller=LENA)
    quiet = local.db.client
    for left in range(12):
        local.db.client = dying = Interleaved(quiet, random.Random(left))
        dying.left = left
        with suppress(Crash, Missing):
            await local.service.dismiss_reports("user", "yuki", "A joke", caller=MODERATOR)
        local.db.client = quiet
        assert (await local.service.reports(PAGE)).items or await trail(local)
    assert (await local.service.reports(PAGE)).items == []


async def test_who_is_suspended_reads_and_does_not_write(world: World) -> None:
    write = ("PATCH", "/users/omar", {"bio": "Hello"})
    await check_suspension(world.service, "omar", write, "/users/omar/home")


async def test_who_is_suspended_signs_in_and_out_and_writes_once_it_is_over(world: World) -> None:
    new = {"email": "k@example.com", "username": "ken", "handle": "ken", "display_name": "Ken"}
    account = NewAccount.model_validate({**new, "password": "correct horse"})
    ken = Identity.of((await world.service.sign_up(account)).user_id)
    await world.service.report(about("user", ken.id), caller=LENA)
    await world.service.suspend_user(ken.id, 1, "Spam", caller=MODERATOR)
    assert (await world.service.reports(PAGE)).items == []
    signed = await world.service.sign_in(Login(login="ken", password="correct horse"))
    assert (await sessions.Sessions(world.db).identity(signed.token)).id == ken.id
    post: dict[str, Any] = {"input": NewPost(text="Hi")}
    for operation, arguments in (
        ("createPost", post),
        ("follow", {"user_id": ken.id, "followee_id": "yuki"}),
        ("uploadImage", {"content_type": "image/png"}),
    ):
        with pytest.raises(NotAllowed, match=r"You may not write until \d{4}-.*Z: Spam"):
            await ask(world.service, operation, ken, **arguments)
    await ask(world.service, "signOut", ken, user_id=ken.id, session_id=signed.session_id)
    world.sandbox.clock.advance(3601)
    await ask(world.service, "createPost", ken, **post)


async def test_nobody_evades_a_suspension_by_leaving(world: World) -> None:
    await world.service.suspend_user("omar", 1, "Spam", caller=MODERATOR)
    await world.service.delete_account("omar")
    await world.settle()
    assert [one.user_id async for one in world.db.scan(Suspension)] == ["omar"]


async def test_administrators_give_roles_and_it_is_noted(world: World) -> None:
    await world.service.set_role("omar", "moderator", "Knows everybody", caller=ROOT)
    assert (await world.service.user("omar", caller=LENA)).role == "moderator"
    [entry] = await trail(world)
    assert (entry.action, entry.subject) == ("role", "user omar")
    assert entry.note == "moderator: Knows everybody"


async def test_reports_go_with_who_made_them_and_the_trail_stays(world: World) -> None:
    post = await world.post(YUKI)
    await world.service.report(about("post", post.post_id), caller=LENA)
    await world.service.suspend_user("lena", 1, "Spam", caller=MODERATOR)
    await world.service.delete_account("lena")
    await world.settle()
    assert (await world.service.reports(PAGE)).items == []
    assert len(await trail(world)) == 1


async def test_strangers_report_nothing(world: World) -> None:
    with pytest.raises(NotAllowed):
        await ask(world.service, "report", STRANGER, input=about("user", "yuki"))


def test_the_first_administrator_is_named_on_the_machine(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(tmp_path / "tama.db")
    with design.open(file) as db:
        ada = {"user_id": "a", "email": "a@b", "username": "ada", "handle": "ada"}
        db.create(UserProfile.model_validate({**ada, "display_name": "Ada"}))
    promotion.main(["--backend", file, "@Ada", "admin"])
    assert "is admin now" in capsys.readouterr().out
    with design.open(file) as db:
        assert db.get(UserProfile.key(user_id="a")).role == "admin"
        assert [one.by for one in db.scan(AuditEntry)] == ["machine"]
    with pytest.raises(SystemExit):
        promotion.main(["--backend", file, "nobody", "admin"])
    assert "sign up first" in capsys.readouterr().err
