"""What people hear of while they look at it."""

from __future__ import annotations

from typing import Any

from keyfold_web import itself, subscription
from keyfold.streams import Change
from keyfold_systems.gg_core.entities import Activity, FeedItem, Follow, GroupMember, User
from keyfold_systems.gg_core.goals import Goal, Quest, Task
from keyfold_systems.gg_core.notices import Notice, UnreadCounter
from keyfold_systems.gg_core.operations.access import in_room
from keyfold_systems.gg_core.operations.feed import Feeds
from keyfold_systems.gg_core.payloads import Entry, News
from keyfold_systems.gg_core.rooms import Message, Room, UserRoom

Mine = Goal | Task | Quest | Notice | UnreadCounter | UserRoom | GroupMember


class Live(Feeds):
    """Subscriptions."""

    @subscription(Activity, allow=itself("user_id"))
    async def feed_added(self, change: Change[Activity], user_id: str) -> Entry | None:
        """What those you follow and the groups you are in do, as it happens."""
        activity = change.new
        if activity is None or change.old is not None:
            return None
        edges: list[Any] = [
            Follow.key(follower_id=user_id, followee_id=activity.actor_id),
            GroupMember.key(group_id=activity.actor_id, user_id=user_id),
        ]
        if not any(await self.db.get_many(edges)):
            return None
        [entry] = await self._entries([activity], user_id)
        return entry

    @subscription(FeedItem, allow=itself("follower_id"))
    async def feed_filled(self, change: Change[FeedItem], follower_id: str) -> Entry | None:
        """A copy of an activity has come to your feed, also of one from before you listened."""
        if change.new is None or change.old is not None:
            return None
        [entry] = await self._entries([change.new], follower_id)
        return entry

    @subscription(Message, Room, allow=in_room)
    async def room_changed(self, change: Change[Message | Room], room_id: str) -> News:
        """What is written in a room, and who is in it."""
        return News(changed=type(change.new or change.old).__name__, id=room_id)

    @subscription(Room, allow=itself("user_id"))
    async def rooms_changed(self, change: Change[Room], user_id: str) -> News | None:
        """Your rooms and those of your groups: what was written last, who is in them."""
        room = change.new or change.old
        assert room is not None, "a change has an item before or after"
        inside = user_id in room.members or (
            room.group_id is not None and await self.role(room.group_id, user_id) is not None
        )
        return News(changed="Room", id=room.room_id) if inside else None

    @subscription(User, allow=itself("id"))
    async def profile_changed(self, change: Change[User], id: str) -> News:  # noqa: ARG002
        """Your profile, with the points that you won."""
        return News(changed="User", id=id)

    @subscription(
        *(Goal, Task, Quest, Notice, UnreadCounter, UserRoom, GroupMember),
        allow=itself("user_id"),
    )
    async def mine_changed(self, change: Change[Mine], user_id: str) -> News:
        """Your goals, tasks, quests, notices, rooms and groups."""
        return News(changed=type(change.new or change.old).__name__, id=user_id)
