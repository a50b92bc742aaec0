"""The hybrid feed with this design: users and groups, pulled and pushed."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from keyfold_web import Invalid, Missing, NotAllowed, PageRequest
from keyfold_web.media import LocalMedia
from keyfold_systems.gg_core.entities import FeedItem, Media, Promotion
from keyfold_systems.gg_core.patterns import activities_of, feed_items
from keyfold_systems.gg_core.payloads import NewActivity
from tests.systems.conftest import upload
from tests.systems.opening import LATER, ask, sweep

from .conftest import FIRST, MIA, OLGA, ROOT, SAM, World

pytestmark = LATER


async def test_a_feed_has_what_followed_users_and_joined_groups_did_newest_first(
    world: World,
) -> None:
    group = await world.found(SAM)
    await world.service.follow_user("mia", caller=OLGA)
    await world.service.join_group(group.group_id, caller=OLGA)
    await world.post(MIA, "one")
    await world.post(SAM, "two", group=group.group_id)
    await world.post(SAM, "not followed")
    await world.post(MIA, "three")
    assert await world.texts(OLGA) == ["three", "two", "one"]


@pytest.mark.parametrize("before", [True, False])
async def test_a_promoted_user_and_a_promoted_group_are_read_from_copies(
    world: World, before: bool
) -> None:
    group = await world.found(SAM)
    await world.service.follow_user("mia", caller=OLGA)
    await world.service.join_group(group.group_id, caller=OLGA)
    if not before:
        await world.post(MIA, "one")
        await world.post(SAM, "two", group=group.group_id)
    for source in ("mia", group.group_id):
        await world.service.promote(source, True, reason="followers", caller=ROOT)
    await world.settle()
    if before:
        await world.post(MIA, "one")
        await world.post(SAM, "two", group=group.group_id)
        await world.settle()
    copies = await feed_items(world.db, "olga")
    assert [item.preview_text for item in copies] == ["two", "one"]
    with world.db.work("feed") as work:
        assert await world.texts(OLGA) == ["two", "one"]
    # Names and numbers of comments are one more.
    assert work.total.requests == 4


async def test_nobody_is_promoted_who_is_not_there(world: World) -> None:
    with pytest.raises(Missing):
        await world.service.promote("nobody", True, caller=ROOT)


async def test_demotion_shows_each_activity_once(world: World) -> None:
    await world.service.follow_user("mia", caller=OLGA)
    await world.service.promote("mia", True, caller=ROOT)
    await world.settle()
    for text in "abc":
        await world.post(MIA, text)
    await world.service.promote("mia", False, caller=ROOT)
    await world.settle()
    await world.post(MIA, "d")
    assert await world.texts(OLGA) == ["d", "c", "b", "a"]


async def test_fan_in_and_fan_out_give_the_newest(world: World) -> None:
    for number in range(7):
        await world.post(MIA, str(number))
    page = await activities_of(world.db, "mia", limit=3)
    assert [one.preview_text for one in page] == ["6", "5", "4"]
    await world.service.follow_user("mia", caller=OLGA)
    await world.service.promote("mia", True, caller=ROOT)
    await world.settle()
    copies = await feed_items(world.db, "olga", limit=3)
    assert [one.preview_text for one in copies] == ["6", "5", "4"]


async def test_an_unfollow_and_a_deletion_hide_at_once(world: World) -> None:
    await world.service.follow_user("mia", caller=OLGA)
    await world.service.promote("mia", True, caller=ROOT)
    await world.settle()
    kept = await world.post(MIA, "kept")
    gone = await world.post(MIA, "gone")
    await world.settle()
    await world.service.delete_activity("mia", gone.activity_id, gone.created_at, caller=MIA)
    assert await world.texts(OLGA) == ["kept"]
    await world.service.unfollow_user("mia", caller=OLGA)
    assert await world.texts(OLGA) == []
    await world.settle()
    assert (await feed_items(world.db, "olga")).items == []
    with pytest.raises(Missing):
        await world.service.delete_activity("mia", gone.activity_id, gone.created_at, caller=MIA)
    assert kept.actor_id == "mia"


async def test_who_leaves_a_group_or_loses_it_sees_nothing_of_it(world: World) -> None:
    group = await world.found(SAM, persistent=False)
    for one in (OLGA, MIA):
        await world.service.join_group(group.group_id, caller=one)
    await world.post(SAM, "for members", group=group.group_id)
    await world.service.leave_group(group.group_id, caller=OLGA)
    assert await world.texts(OLGA) == []
    assert await world.texts(MIA) == ["for members"]
    await world.service.delete_group(group.group_id, caller=SAM)
    await world.settle()
    assert await world.texts(MIA) == []


async def test_one_cursor_pages_through_all_sources(world: World) -> None:
    for one in ("mia", "sam"):
        await world.service.follow_user(one, caller=OLGA)
    for number in range(9):
        await world.post((MIA, SAM)[number % 2], str(number))
    seen: list[str] = []
    cursor = None
    while True:
        page = await world.service.feed("olga", PageRequest(limit=2, cursor=cursor))
        seen += [one.preview_text for one in page]
        cursor = page.cursor
        if cursor is None:
            break
        await world.post(MIA, "newer")
    assert seen == [str(number) for number in range(8, -1, -1)]


async def test_posting_as_another_is_refused(world: World) -> None:
    group = await world.found(SAM)
    for actor in ("mia", group.group_id):
        with pytest.raises(NotAllowed):
            await world.post(OLGA, "not mine", group=actor)


async def test_comments_and_goal_updates_are_activities_about_something(world: World) -> None:
    goal = await world.goal(MIA)
    post = await world.post(OLGA, "First!")
    await world.comment(MIA, post)
    reached = NewActivity(verb="goal_update", object_type="Goal", object_id=goal.goal_id)
    world.clock.advance(1)
    await world.service.post_activity(reached, caller=MIA)
    entries = await world.service.activities("mia", FIRST, caller=OLGA)
    assert [(one.verb, one.object_id) for one in entries] == [
        ("goal_update", goal.goal_id),
        ("comment", post.activity_id),
    ]
    for wrong in (
        NewActivity(preview_text="  "),
        NewActivity(verb="comment"),
        NewActivity(verb="goal_update", object_type="Goal", object_id="not mine"),
        NewActivity(verb="goal_update", object_type="Task", object_id=goal.goal_id),
    ):
        with pytest.raises(Invalid):
            await world.service.post_activity(wrong, caller=MIA)


async def test_media_is_stored_by_key_and_linked_when_read(world: World, tmp_path: Path) -> None:
    world.service.media = LocalMedia(tmp_path, clock=world.clock)
    upload = await world.service.upload_media("image/png", caller=MIA)
    media = Media(s3_key=upload.s3_key, content_type="image/png", width=4, height=3)
    await world.service.follow_user("mia", caller=OLGA)
    await world.service.post_activity(NewActivity(media=media), caller=MIA)
    [entry] = await world.service.feed("olga", FIRST)
    assert entry.media is not None
    assert entry.media.url is not None
    assert "signature=" in entry.media.url
    stored = (await activities_of(world.db, "mia"))[0]
    assert "signature" not in stored.model_dump_json()
    world.clock.advance(3600)
    [later] = await world.service.feed("olga", FIRST)
    assert later.media is not None
    assert later.media.url != entry.media.url
    with pytest.raises(NotAllowed):
        await world.service.post_activity(NewActivity(media=media), caller=OLGA)
    for wrong in ({"content_type": "x" * 101}, {"width": 0}, {"s3_key": "x" * 301}):
        with pytest.raises(ValidationError):
            Media.model_validate(media.model_dump() | wrong)


async def test_uploads_go_with_who_leaves(world: World, tmp_path: Path) -> None:
    world.service.media = media = LocalMedia(tmp_path, clock=world.clock)
    for one in (MIA, OLGA):
        link = await world.service.upload_media("image/png", caller=one)
        await upload(media, link)
    assert len(list(tmp_path.rglob("*.bin"))) == 2
    await world.service.delete_user("mia", caller=MIA)
    assert len(list(tmp_path.rglob("*.bin"))) == 1


async def test_a_repeated_upload_has_one_key(world: World, tmp_path: Path) -> None:
    world.service.media = LocalMedia(tmp_path, clock=world.clock)
    keys = [
        (await ask(world.service, "uploadMedia", MIA, repeated, content_type="image/png")).s3_key
        for repeated in ("once", "once", "twice")
    ]
    assert keys[0] == keys[1] != keys[2]


async def test_copies_expire_after_thirty_days_and_are_not_shown_before_they_are_removed(
    world: World,
) -> None:
    await world.service.follow_user("mia", caller=OLGA)
    await world.service.promote("mia", True, caller=ROOT)
    await world.settle()
    activity = await world.post(MIA, "old")
    await world.settle()
    ref = FeedItem.key(
        follower_id="olga", created_at=activity.created_at, activity_id=activity.activity_id
    )
    copy = await world.db.get(ref)
    assert copy.expires_at is not None
    assert (copy.expires_at - activity.created_at).days == 30
    world.clock.advance(31 * 86400)
    assert await world.texts(OLGA) == []


async def test_activities_are_kept(world: World) -> None:
    await world.post(MIA, "old")
    world.clock.advance(3 * 365 * 86400)
    await sweep(world.db, world.sandbox, "gg_core")
    [kept] = await world.service.activities("mia", FIRST, caller=OLGA)
    assert kept.preview_text == "old"


async def test_what_was_decided_is_shown_with_its_reason(world: World) -> None:
    await world.service.follow_user("mia", caller=OLGA)
    await world.settle()
    reach = await world.service.explain_reach("mia")
    # She has posted nothing yet: copies cost nothing, and a page saves a read.
    assert (reach.followers, reach.copied, reach.promoted) == (1, 1, None)
    assert "pages for" in reach.reasons[0].reason
    way = await world.service.explain_way("mia", "olga")
    assert (way.mode, way.saving < 0) == ("push", True)
    with pytest.raises(Missing):
        await world.service.explain_way("olga", "mia")


async def test_a_promotion_keeps_what_it_was_decided_by(world: World) -> None:
    by = {"followers": 1000.0}
    flagged = {"reason": "followers", "thresholds": by}
    await ask(world.service, "promote", ROOT, None, actor_id="mia", fanout_enabled=True, **flagged)
    flag = await world.db.get(Promotion.key(user_id="mia"))
    assert (flag.reason, flag.thresholds) == ("followers", by)


async def test_the_policy_decides_again_once_a_promotion_is_over(world: World) -> None:
    await world.service.follow_user("mia", caller=OLGA)
    await world.service.promote("mia", fanout_enabled=False, caller=ROOT)
    await world.settle()
    assert (await world.service.explain_reach("mia")).promoted is False
    assert (await world.service.explain_way("mia", "olga")).mode == "pull"
    await world.service.end_promotion("mia", caller=ROOT)
    assert (await world.service.explain_reach("mia")).promoted is None


async def test_a_verb_that_nobody_knows_is_an_activity(world: World) -> None:
    await world.service.follow_user("mia", caller=OLGA)
    told = NewActivity(verb="photo_shared", object_id="p1", preview_text="The summit")
    await world.service.post_activity(told, caller=MIA)
    await world.settle()
    [entry] = await world.service.feed("olga", page=PageRequest(limit=5))
    assert (entry.verb, entry.object_id) == ("photo_shared", "p1")


async def test_whatever_the_verb_an_activity_is_about_something_that_is_there(
    world: World,
) -> None:
    goal = await world.goal(MIA)
    for more in ({}, {"object_id": "x"}, {"object_id": goal.goal_id}):
        given = {"verb": "celebrated", "object_type": "Goal", "preview_text": "Done!", **more}
        with pytest.raises(Invalid, match="objectId"):
            await world.service.post_activity(NewActivity.model_validate(given), caller=OLGA)


async def test_nobody_needs_a_flag_for_copies(world: World) -> None:
    """Somebody who reads all day gets copies of a source that posts now and then."""
    await world.service.follow_user("mia", caller=OLGA)
    await world.settle()
    await world.post(MIA, "hello")
    await world.settle()
    copies = await world.db.read(FeedItem.key.query(follower_id="olga"))
    assert [copy.preview_text for copy in copies] == ["hello"]


async def test_what_is_copied_is_as_late_as_the_consumer_and_what_is_pulled_is_not(
    world: World,
) -> None:
    await world.service.follow_user("mia", caller=OLGA)
    await world.post(MIA, "pulled")
    assert await world.texts(OLGA) == ["pulled"]
    await world.service.promote("mia", True, caller=ROOT)
    await world.settle()
    await world.post(MIA, "copied")
    assert await world.texts(OLGA) == ["pulled"]
    await world.settle()
    assert await world.texts(OLGA) == ["copied", "pulled"]
