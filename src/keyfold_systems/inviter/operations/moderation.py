"""What people report, and what moderators do about it."""

from __future__ import annotations

from typing import ClassVar

from keyfold import put, update
from keyfold.api import Oversight, Subject, Trail, authenticated
from keyfold.runtime import Intent
from keyfold_systems.inviter.entities import Group, Hangout, Removal, User
from keyfold_systems.inviter.operations.access import Part, guest, member
from keyfold_systems.inviter.oversight import trail


def close(group: Group) -> list[Intent]:
    """The stream takes away what is the group's."""
    removal = Removal(kind="group", removed_id=group.group_id)
    return [update(group.ref(), closing=True), put(removal)]


def expel(user: User) -> list[Intent]:
    """The stream takes away what is the user's; their groups go or are handed over before."""
    removal = Removal(kind="user", removed_id=user.user_id)
    return [update(user.ref(), leaving=True, where=lambda u: u.owned_groups == 0), put(removal)]


class Moderation(Oversight, Part):
    """Hangouts, groups and people can be reported by those who see them."""

    trail: ClassVar[Trail] = trail
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
