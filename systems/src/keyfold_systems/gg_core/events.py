"""The domain events of gg_core: each change that others may care about, announced once.

Completed tasks, goals and quests are announced where they are counted, in `quests`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from keyfold import Entity, delete
from keyfold.runtime import Intent
from keyfold.streams import Delivery
from keyfold_systems.gg_core.entities import (
    Activity,
    Block,
    CommentsCounter,
    Follow,
    Group,
    GroupMember,
    Promotion,
    User,
    design,
    home,
)
from keyfold_systems.gg_core.goals import Goal, Quest, Task
from keyfold_systems.gg_core.oversight import Report, Suspension
from keyfold_systems.gg_core.rooms import Message, Room

Kind = Literal["insert", "modify", "remove"]
KINDS: Final[tuple[Kind, ...]] = ("insert", "modify", "remove")


@dataclass(frozen=True)
class Announced:
    """What is said of an entity's items, with which fields; nothing where there is no name."""

    entity: type[Entity]
    shown: tuple[str, ...]
    insert: str = ""
    remove: str = ""
    modify: str = ""
    watched: tuple[str, ...] = ()
    """A change of these fields is worth telling; counters and copies change by themselves."""


ANNOUNCED = [
    Announced(
        User,
        ("id", "nickname"),
        insert="UserCreated",
        remove="UserDeleted",
        modify="UserChanged",
        watched=("nickname", "email", "full_name", "language", "tags", "tier"),
    ),
    Announced(Follow, ("followerId", "followeeId"), insert="UserFollowed", remove="UserUnfollowed"),
    Announced(Block, ("userId", "blockedId"), insert="UserBlocked", remove="UserUnblocked"),
    Announced(
        Group,
        ("groupId", "ownerId"),
        insert="GroupCreated",
        remove="GroupDeleted",
        modify="GroupChanged",
        watched=("name", "description", "tags", "is_persistent"),
    ),
    Announced(
        GroupMember,
        ("groupId", "userId", "role"),
        insert="GroupJoined",
        remove="GroupLeft",
        modify="RoleChanged",
        watched=("role",),
    ),
    Announced(
        Goal,
        ("userId", "goalId"),
        insert="GoalCreated",
        remove="GoalDeleted",
        modify="GoalChanged",
        watched=("title", "description", "tags"),
    ),
    Announced(
        Task,
        ("userId", "goalId", "taskId"),
        insert="TaskCreated",
        remove="TaskDeleted",
        modify="TaskChanged",
        watched=("title", "due_at"),
    ),
    Announced(
        Activity,
        ("actorId", "activityId", "verb"),
        insert="ActivityPosted",
        remove="ActivityDeleted",
    ),
    Announced(
        Promotion,
        ("userId", "fanoutEnabled", "reason"),
        insert="ReachDecided",
        modify="ReachDecided",
        remove="ReachLeftToPolicy",
        watched=("fanout_enabled", "reason"),
    ),
    Announced(Quest, ("userId", "id"), insert="QuestCreated", remove="QuestDeleted"),
    Announced(
        Room,
        ("roomId", "scope"),
        insert="RoomCreated",
        modify="RoomMembersChanged",
        watched=("members",),
    ),
    Announced(
        Message, ("roomId", "messageId", "userId"), insert="MessageSent", remove="MessageDeleted"
    ),
    Announced(
        Report,
        ("reporterId", "subjectType", "subjectId", "status"),
        insert="ReportMade",
        modify="ReportHandled",
        watched=("status",),
    ),
    Announced(
        Suspension,
        ("userId", "until"),
        insert="UserSuspended",
        modify="UserSuspended",
        remove="UserRestored",
        watched=("until", "reason"),
    ),
]


def _announce(said: Announced, kind: Kind) -> None:
    event: str = getattr(said, kind)

    def announce(old: Entity | None, new: Entity | None, delivery: Delivery) -> None:
        item = new if new is not None else old
        assert item is not None, "a change has an item before or after"
        if kind == "modify" and not _differ(old, new, said.watched):
            return
        shown = item.model_dump(mode="json", by_alias=True)
        delivery.emit(event, {name: shown[name] for name in said.shown})

    announce.__doc__ = f"Announces {event}."
    design.on(said.entity, kind, name=f"announce_{said.entity.__name__}_{kind}")(announce)


def _differ(old: Entity | None, new: Entity | None, watched: tuple[str, ...]) -> bool:
    return any(getattr(old, name) != getattr(new, name) for name in watched)


for declared in ANNOUNCED:
    for change in KINDS:
        if getattr(declared, change):
            _announce(declared, change)


@design.on(Group, "remove", name="forget_promotion")
def forget_promotion(old: Group, _: None, __: Delivery) -> list[Intent]:
    """What was decided and counted about a group's reach goes with it."""
    return [delete(Promotion.key(user_id=old.group_id)), *home.forgetting(old.group_id)]


@design.on(CommentsCounter, "modify", name="forget_comments")
async def forget_comments(
    _: CommentsCounter, new: CommentsCounter, delivery: Delivery
) -> list[Intent]:
    """A count of no comments is not kept: nothing would delete it with its post."""
    if new.count:
        return []
    now = await delivery.find(new.ref())
    return [delete(now.ref(), where=lambda c: c.count == 0)] if now and not now.count else []


@design.on(Quest, "modify", name="announce_QuestCancelled")
def announce_cancelled(old: Quest, new: Quest, delivery: Delivery) -> None:
    """Announces QuestCancelled."""
    if new.status == "cancelled" and old.status != "cancelled":
        delivery.emit("QuestCancelled", {"userId": new.user_id, "id": new.id})
