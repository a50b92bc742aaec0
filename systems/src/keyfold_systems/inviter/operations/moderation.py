"""What people report, and what moderators do about it."""

from __future__ import annotations

from typing import ClassVar

from keyfold import create, new_ulid
from keyfold_web import Conflict, Removed, Subject, Suspensions, Trail, authenticated
from keyfold.runtime import Intent
from keyfold_systems.inviter.entities import Group, Hangout, NoticeKind, Notification, Removal, User
from keyfold_systems.inviter.operations.access import Part, guest, member
from keyfold_systems.inviter.oversight import Suspension, trail
from keyfold_systems.inviter.removal import begin


def close(group: Group) -> list[Intent]:
    return begin(Removal(kind="group", removed_id=group.group_id))


def expel(user: User) -> list[Intent]:
    if user.owned_groups:
        raise Conflict("Remove the groups that they own first.", code="OWNER")
    return begin(Removal(kind="user", removed_id=user.user_id))


class Moderation(Suspensions, Part):
    """Hangouts, groups and people can be reported by those who see them."""

    trail: ClassVar[Trail] = trail
    suspension = Suspension
    names_of = Part.names_of
    # Who owns a group leaves after it.
    while_suspended = Suspensions.while_suspended | {"deleteUser", "deleteGroup", "handOverGroup"}
    subjects = {
        "hangout": Subject(Hangout, ["hangout_id"], allow=guest, owner="host_id", shown="title"),
        "group": Subject(
            Group, ["group_id"], allow=member, owner="owner_id", shown="name", remove=close
        ),
        "user": Subject(
            User,
            ["user_id"],
            allow=authenticated,
            owner="user_id",
            shown="name",
            remove=expel,
            by_admin=True,
        ),
    }

    async def removal_notice(self, removed: Removed) -> Intent | None:
        owner = await self.db.find(User.key(user_id=removed.owner_id))
        if owner is None or owner.leaving:
            return None
        notice = Notification(
            user_id=removed.owner_id,
            note_id=new_ulid(),
            kind=NoticeKind.REMOVED,
            title=removed.title,
            text=removed.reason,
        )
        return create(notice)
