"""A group with a long past: what is before it takes few requests, at any size of a page."""

from __future__ import annotations

from datetime import timedelta

import pytest

from keyfold import AsyncDb
from keyfold_systems.inviter.patterns import group_upcoming, user_upcoming
from tests.systems.inviter.conftest import NOW, Town


@pytest.mark.parametrize("limit", [1, 5, 200])
async def test_what_is_past_takes_no_request_for_each(db: AsyncDb, town: Town, limit: int) -> None:
    group = await town.settle()
    for hours in range(1, 71):
        await town.hangout(group, hours=hours)
    later = NOW + timedelta(hours=65)
    with db.work("group") as work:
        page = await group_upcoming(db, group.group_id, NOW, later, limit=limit)
    assert work.total.requests <= 3
    assert len(page) == min(limit, 7)
    with db.work("user") as work:
        mine = await user_upcoming(db, town.ada.id, [group.group_id], NOW, later, limit=limit)
    assert work.total.requests <= 2 * 3, "two partitions"
    assert len(mine) == min(limit, 7)
