"""What people hear of while they look at it."""

from __future__ import annotations

from keyfold_web import itself, subscription
from keyfold.streams import Change
from keyfold_systems.inviter.entities import (
    Group,
    GroupHangout,
    GroupInvitation,
    Hangout,
    Membership,
    Notification,
    Response,
    User,
    UserHangout,
)
from keyfold_systems.inviter.operations.access import Part, guest, member
from keyfold_systems.inviter.payloads import GroupNews, HangoutNews, UserNews


class Live(Part):
    """Subscriptions: each says what changed, and whoever shows it reads it again."""

    @subscription(GroupHangout, Membership, GroupInvitation, Group, allow=member)
    async def group_changed(
        self, change: Change[GroupHangout | Membership | GroupInvitation | Group], group_id: str
    ) -> GroupNews:
        """A group, its members, who is asked in, and its hangouts."""
        found = change.new or change.old
        hangout_id = found.hangout_id if isinstance(found, GroupHangout) else None
        return GroupNews(group_id=group_id, hangout_id=hangout_id)

    @subscription(
        User, UserHangout, Membership, GroupInvitation, Notification, allow=itself("user_id")
    )
    async def my_list_changed(
        self,
        change: Change[User | UserHangout | Membership | GroupInvitation | Notification],
        user_id: str,
    ) -> UserNews:
        """Your profile, what you are invited to, your groups, and what you are to know."""
        kind = type(change.new or change.old).__name__
        return UserNews(user_id=user_id, changed=kind)

    @subscription(Hangout, Response, allow=guest)
    async def hangout_changed(
        self, change: Change[Hangout | Response], hangout_id: str
    ) -> HangoutNews:
        """A hangout and the answers to it."""
        found = change.new
        by = found.user_name if isinstance(found, Response) else None
        return HangoutNews(hangout_id=hangout_id, answered_by=by)
