"""People who follow each other, and what they post. A test adds its table and its feed."""

from __future__ import annotations

from typing import Annotated

from keyfold import Created, Design, Entity, Id, Index, Key, On, Table, Timestamp, Ttl, Updated
from keyfold.structures import Edge


def network_table(design: Design) -> Table:
    return design.table(
        design.name,
        indexes=[Index("GSI1", "GSI1PK", "GSI1SK")],
        ttl="ttl",
        stream="NEW_AND_OLD_IMAGES",
    )


class FollowFields(Edge):
    follower_id: Id
    followee_id: Id
    created_at: Annotated[Timestamp | None, Created()] = None
    key = Key("USER#{follower_id}", "FOLLOWING#{followee_id}")
    followers = On("GSI1", "USER#{followee_id}", "FOLLOWER#{follower_id}")


class ActivityFields(Entity):
    actor_id: Id
    created_at: Timestamp
    activity_id: Id
    text: str = ""
    key = Key("ACTIVITY#{actor_id}", "TS#{created_at:iso}#{activity_id}")


class FeedItemFields(Entity):
    follower_id: Id
    actor_id: Id
    created_at: Timestamp
    activity_id: Id
    text: str = ""
    expires_at: Annotated[Timestamp | None, Ttl()] = None
    key = Key("FEED#{follower_id}", "TS#{created_at:iso}#{activity_id}")


class PromotionFields(Entity):
    user_id: Id
    fanout_enabled: bool
    reason: str = "manual"
    updated_at: Annotated[Timestamp | None, Updated()] = None
    key = Key("PROMO#{user_id}", "PROMO#{user_id}")
