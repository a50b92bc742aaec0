"""The domain events: each is emitted once by the stream, whoever wrote the item.

Notifications are made from them by whoever subscribes to the event bus.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from pydantic.alias_generators import to_camel

from keyfold import Entity
from keyfold.streams import Delivery
from keyfold_systems.gg_core.entities import (
    Activity,
    Follow,
    Group,
    GroupMember,
    Message,
    Promotion,
    Quest,
    User,
    design,
)

Kind = Literal["insert", "modify", "remove"]


@dataclass(frozen=True)
class Announced:
    """The event of a change, and the fields of the item that it has."""

    event: str
    entity: type[Entity]
    kind: Kind
    shown: tuple[str, ...]


ANNOUNCED: Final = (
    Announced("UserCreated", User, "insert", ("user_id", "nickname")),
    Announced("UserFollowed", Follow, "insert", ("follower_id", "followee_id")),
    Announced("UserUnfollowed", Follow, "remove", ("follower_id", "followee_id")),
    Announced("GroupCreated", Group, "insert", ("group_id", "owner_id")),
    Announced("GroupJoined", GroupMember, "insert", ("group_id", "user_id", "role")),
    Announced("GroupLeft", GroupMember, "remove", ("group_id", "user_id")),
    Announced("ActivityPosted", Activity, "insert", ("actor_id", "activity_id", "verb")),
    Announced("PromotionChanged", Promotion, "insert", ("user_id", "fanout_enabled", "reason")),
    Announced("PromotionChanged", Promotion, "modify", ("user_id", "fanout_enabled", "reason")),
    Announced("QuestCreated", Quest, "insert", ("user_id", "quest_id")),
    Announced("QuestEnded", Quest, "modify", ("user_id", "quest_id", "status")),
    Announced("QuestDeleted", Quest, "remove", ("user_id", "quest_id")),
    Announced("MessageSent", Message, "insert", ("room_id", "message_id", "user_id")),
)


def _announce(one: Announced) -> None:
    def announce(old: Entity | None, new: Entity | None, delivery: Delivery) -> None:
        item = new if new is not None else old
        assert item is not None, "a change has an item before or after"
        values = item.model_dump(mode="json", include=set(one.shown))
        delivery.emit(one.event, {to_camel(name): values[name] for name in one.shown})

    announce.__doc__ = f"Announces {one.event}."
    design.on(one.entity, one.kind, name=f"announce_{one.entity.__name__}_{one.kind}")(announce)


for _one in ANNOUNCED:
    _announce(_one)
