"""The domain events of gg_core: each change that others may care about, announced once."""

from __future__ import annotations

from typing import Any

from keyfold import Entity
from keyfold.streams import Delivery
from keyfold_systems.gg_core.entities import (
    Activity,
    Block,
    Follow,
    Group,
    GroupMember,
    Message,
    Quest,
    Room,
    User,
    design,
)

ANNOUNCED: list[tuple[type[Entity], str, str, tuple[str, ...]]] = [
    (User, "insert", "UserCreated", ("id", "nickname")),
    (Follow, "insert", "UserFollowed", ("followerId", "followeeId")),
    (Follow, "remove", "UserUnfollowed", ("followerId", "followeeId")),
    (Block, "insert", "UserBlocked", ("userId", "blockedId")),
    (Group, "insert", "GroupCreated", ("groupId", "ownerId")),
    (GroupMember, "insert", "GroupJoined", ("groupId", "userId")),
    (GroupMember, "remove", "GroupLeft", ("groupId", "userId")),
    (Activity, "insert", "ActivityPosted", ("actorId", "activityId", "verb")),
    (Activity, "remove", "ActivityDeleted", ("actorId", "activityId", "verb")),
    (Quest, "insert", "QuestCreated", ("userId", "id")),
    (Quest, "remove", "QuestDeleted", ("userId", "id")),
    (Room, "insert", "RoomCreated", ("roomId", "scope")),
    (Message, "insert", "MessageSent", ("roomId", "messageId", "userId")),
]


def _announce(entity: type[Entity], kind: Any, event: str, fields: tuple[str, ...]) -> None:
    def announce(old: Entity | None, new: Entity | None, delivery: Delivery) -> None:
        item = new if new is not None else old
        assert item is not None, "a change has an item before or after"
        shown = item.model_dump(mode="json", by_alias=True)
        delivery.emit(event, {name: shown[name] for name in fields})

    announce.__doc__ = f"Announces {event}."
    design.on(entity, kind, name=f"announce_{event}")(announce)


for declared in ANNOUNCED:
    _announce(*declared)


@design.on(Quest, "modify", name="announce_QuestCancelled")
def announce_cancelled(old: Quest, new: Quest, delivery: Delivery) -> None:
    """Announces QuestCancelled."""
    if new.status == "cancelled" and old.status != "cancelled":
        delivery.emit("QuestCancelled", {"userId": new.user_id, "id": new.id})
