"""gg_core on other people's servers: counters, quests and the feed come out the same."""

from __future__ import annotations

import pytest

from keyfold.errors import Unsupported
from keyfold.streams import AsyncConsumer, letters
from keyfold_systems.gg_core.design import design
from keyfold_systems.gg_core.service import GgCore
from keyfold_systems.gg_core.views import (
    NewActivity,
    NewGoal,
    NewGroup,
    NewQuest,
    NewTask,
    NewUser,
)
from keyfold_web import Identity, PageRequest

from .lagging import shown

WITHOUT_TRANSACTIONS = {"dynalite"}
SHOWS_ITEMS_TOO_EARLY = {"moto"}
"""Its stream has an item that an update creates once with its key alone; that is a dead letter."""
FIRST = PageRequest(limit=50, cursor=None)
ANN, BEN = Identity.of("ann"), Identity.of("ben")


async def test_a_life_in_gg_core(other_server: tuple[str, str]) -> None:
    server, url = other_server
    if server in WITHOUT_TRANSACTIONS:
        with pytest.raises(Unsupported, match="has no transactions"):
            await design.open_async(url, create_tables=True)
        return
    db = await design.open_async(url, create_tables=True)
    service = GgCore(db)
    try:
        for one in (ANN, BEN):
            input = NewUser(nickname=one.id, email=f"{one.id}@x.org", full_name=one.id)
            await service.create_user(input, caller=one)
        await service.follow_user("ben", caller=ANN)
        group = await service.create_group(NewGroup(name="Runners"), caller=BEN)
        await service.join_group(group.group_id, caller=ANN)
        for text, actor in (("one", None), ("two", group.group_id), ("three", None)):
            posted = NewActivity(preview_text=text, actor_id=actor)
            await service.post_activity(posted, caller=BEN)

        async def feed() -> list[str | None]:
            return [entry.preview_text for entry in await service.feed("ann", FIRST)]

        await shown(feed, ["three", "two", "one"])

        await service.set_promotion("ben", True)
        goal = await service.create_goal(NewGoal(title="Run"), caller=ANN)
        task = await service.create_task(goal.goal_id, NewTask(title="Shoes"), caller=ANN)
        linked = NewQuest(title="One", kind="linked", linked_task_ids=[task.task_id])
        quest = await service.create_quest(linked, caller=ANN)
        await service.complete_task(goal.goal_id, task.task_id, caller=ANN)
        assert (await service.complete_quest(quest.quest_id, caller=ANN)).status == "completed"
        await service.post_activity(NewActivity(preview_text="four"), caller=BEN)
        await AsyncConsumer(db).drain()
        if server not in SHOWS_ITEMS_TOO_EARLY:
            assert await db.run(letters(db.context)) == []
        assert (await service.counts("ben")).followers == 1
        await shown(feed, ["four", "three", "two", "one"])

        await service.unfollow_user("ben", caller=ANN)
        assert await feed() == ["two"]
    finally:
        await db.close()
