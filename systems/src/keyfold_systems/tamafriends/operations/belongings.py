"""What belongs to a person: exported page by page; what leaves with the profile follows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from pydantic import BaseModel

from keyfold import Timestamp
from keyfold_web import Belonging, PersonalData, itself, mutation
from keyfold_systems.tamafriends.entities import (
    Block,
    Comment,
    Follow,
    Like,
    Post,
    Report,
    Session,
    UserProfile,
)
from keyfold_systems.tamafriends.operations.access import Part
from keyfold_systems.tamafriends.operations.notifications import inbox
from keyfold_systems.tamafriends.oversight import Suspension
from keyfold_systems.tamafriends.payloads import OwnReport


class SessionRecord(BaseModel):
    """Where somebody was signed in, without what proves it."""

    session_id: str
    device: str
    created_at: Timestamp


class Belongings(PersonalData, Part):
    """The profile is deleted; cascades take the rest along, wherever they are broken off."""

    personal: ClassVar[Sequence[Belonging]] = (
        Belonging("profile", lambda id: UserProfile.key(user_id=id)),
        Belonging("posts", lambda id: Post.key.query(user_id=id), kept=True),
        Belonging("comments", lambda id: Comment.by_user.query(user_id=id), kept=True),
        Belonging("likes", lambda id: Like.by_user.query(user_id=id), kept=True),
        Belonging("following", lambda id: Follow.key.query(follower_id=id), kept=True),
        Belonging("followers", lambda id: Follow.by_followee.query(followee_id=id), kept=True),
        Belonging("blocks", lambda id: Block.key.query(user_id=id), kept=True),
        inbox.belonging(),
        Belonging(
            "reports", lambda id: Report.by_user.query(user_id=id).only(OwnReport), kept=True
        ),
        Belonging("suspension", lambda id: Suspension.key(user_id=id), kept=True),
        Belonging(
            "sessions", lambda id: Session.key.query(user_id=id).only(SessionRecord), kept=True
        ),
    )

    @mutation("/users/{user_id}", name="deleteAccount", method="DELETE", allow=itself("user_id"))
    async def delete_account(self, user_id: str) -> None:
        """Leave; posts, comments, likes and follows go after you."""
        await self.delete_uploads(user_id)
        await self.db.delete(UserProfile.key(user_id=user_id), must_exist=True)
