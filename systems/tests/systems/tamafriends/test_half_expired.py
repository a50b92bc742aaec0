"""Every second post has expired, and nobody has swept yet: it is gone, and nothing fails."""

from __future__ import annotations

import pytest

from keyfold_web import Missing, PageRequest
from keyfold_systems.tamafriends.entities import Post
from tests.systems.tamafriends.conftest import LENA, OMAR, YUKI, World


async def half_expired(world: World) -> tuple[list[Post], list[Post]]:
    posts = [await world.post(YUKI, f"Post {number}") for number in range(30)]
    for post in posts:
        await world.like(OMAR, post)
        await world.comment(LENA, post)
    over = int(world.sandbox.clock.now()) - 1
    for post in posts[::2]:
        await world.db.client.call(
            "UpdateItem",
            {
                "TableName": world.db.context.physical(Post.__table__.schema),
                "Key": post.ref().wire(),
                "UpdateExpression": "SET #t = :t",
                "ExpressionAttributeNames": {"#t": "ttl"},
                "ExpressionAttributeValues": {":t": {"N": str(over)}},
            },
        )
    return posts[::2], posts[1::2]


async def test_an_expired_post_is_missing_for_every_operation(world: World) -> None:
    gone, _ = await half_expired(world)
    post_id, service = gone[3].post_id, world.service
    for call in (
        lambda: service.post(post_id, caller=LENA),
        lambda: service.edit_post(post_id, "Again", caller=YUKI),
        lambda: service.delete_post(post_id),
        lambda: service.like(post_id, caller=LENA),
        lambda: service.comment(post_id, "Again", caller=OMAR),
    ):
        with pytest.raises(Missing):
            await call()


@pytest.mark.parametrize("limit", [1, 4, 50])
async def test_lists_leave_them_out_page_by_page(world: World, limit: int) -> None:
    _, live = await half_expired(world)
    seen: list[str] = []
    cursor: str | None = None
    while True:
        with world.db.work("page") as work:
            wanted = PageRequest(limit=limit, cursor=cursor)
            page = await world.service.posts(YUKI.id, wanted, caller=OMAR)
        assert work.total.requests <= 5
        seen += [post.post_id for post in page]
        cursor = page.cursor
        if cursor is None:
            break
    assert sorted(seen) == sorted(post.post_id for post in live)
