"""The domain events of Inviter: each change that others may care about, announced once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from keyfold import Entity
from keyfold.runtime import Intent
from keyfold.streams import Delivery
from keyfold_systems.inviter import notices
from keyfold_systems.inviter.entities import (
    Group,
    GroupInvitation,
    Hangout,
    Membership,
    Response,
    User,
    design,
)

CHANGES_OF_A_GROUP = {
    "GroupRenamed": "name",
    "GroupHandedOver": "owner_id",
    "GroupPrivacyChanged": "private",
}
SHOWN = ("title", "description", "place", "starts_at", "ends_at")


@design.on(User)
def announce_user(old: User | None, new: User | None, delivery: Delivery) -> None:
    """Announces UserCreated, UserRenamed and UserDeleted."""
    if new is None:
        _emit(delivery, "UserDeleted", old, "user_id")
    elif old is None:
        _emit(delivery, "UserCreated", new, "user_id", "name")
    elif old.name != new.name:
        _emit(delivery, "UserRenamed", new, "user_id", "name")


@design.on(Group)
async def announce_group(
    old: Group | None, new: Group | None, delivery: Delivery
) -> Sequence[Intent]:
    """Announces GroupCreated, GroupRenamed, GroupHandedOver, GroupPrivacyChanged, GroupDeleted."""
    if new is None:
        _emit(delivery, "GroupDeleted", old, "group_id")
    elif old is None:
        _emit(delivery, "GroupCreated", new, "group_id", "name", "owner_id", "private")
    else:
        for event, field in CHANGES_OF_A_GROUP.items():
            if getattr(old, field) != getattr(new, field):
                _emit(delivery, event, new, "group_id", field)
    return await notices.of_group(old, new, delivery)


@design.on(Membership, "insert", "remove")
async def announce_membership(
    old: Membership | None, new: Membership | None, delivery: Delivery
) -> Sequence[Intent]:
    """Announces GroupJoined and GroupLeft."""
    name = "GroupLeft" if new is None else "GroupJoined"
    _emit(delivery, name, new or old, "group_id", "user_id")
    return await notices.of_membership(new, delivery)


@design.on(GroupInvitation, "insert", "remove")
async def announce_invitation(
    old: GroupInvitation | None, new: GroupInvitation | None, delivery: Delivery
) -> Sequence[Intent]:
    """Announces GroupInvitationSent and, once it is used up or taken back, GroupInvitationEnded."""
    name = "GroupInvitationEnded" if new is None else "GroupInvitationSent"
    _emit(delivery, name, new or old, "group_id", "user_id", "invited_by")
    return await notices.of_invitation(new, delivery)


@design.on(Hangout)
async def announce_hangout(
    old: Hangout | None, new: Hangout | None, delivery: Delivery
) -> Sequence[Intent]:
    """Announces HangoutCreated, HangoutDeleted, and what becomes of it in between."""
    if new is None:
        _emit(delivery, "HangoutDeleted", old, "hangout_id", "host_id")
    elif old is None:
        _emit(delivery, "HangoutCreated", new, "hangout_id", "host_id", *SHOWN)
        _announce_guests(Hangout.model_copy(new, update=_NOBODY), new, delivery)
    else:
        if changed := [name for name in SHOWN if getattr(old, name) != getattr(new, name)]:
            _emit(delivery, "HangoutChanged", new, "hangout_id", *changed)
        if old.cancelled != new.cancelled:
            name = "HangoutCancelled" if new.cancelled else "HangoutReinstated"
            _emit(delivery, name, new, "hangout_id")
        _announce_guests(old, new, delivery)
    return await notices.of_hangout(old, new, delivery)


@design.on(Response, "insert", "modify")
async def announce_response(
    old: Response | None, new: Response, delivery: Delivery
) -> Sequence[Intent]:
    """Announces InvitationAnswered, also when somebody changes their mind."""
    if old is None or old.answer != new.answer:
        _emit(delivery, "InvitationAnswered", new, "hangout_id", "user_id", "answer")
    return await notices.of_answer(old, new, delivery)


_NOBODY: dict[str, set[str]] = {"group_ids": set(), "user_ids": set()}


def _announce_guests(old: Hangout, new: Hangout, delivery: Delivery) -> None:
    """Announces GuestsInvited and GuestsWithdrawn."""
    for name, more, less in (("GuestsInvited", new, old), ("GuestsWithdrawn", old, new)):
        groups = sorted(more.group_ids - less.group_ids)
        users = sorted(more.user_ids - less.user_ids - {new.host_id})
        if groups or users:
            payload = {"hangoutId": new.hangout_id, "groupIds": groups, "userIds": users}
            delivery.emit(name, payload)


def _emit(delivery: Delivery, event: str, item: Entity | None, *fields: str) -> None:
    assert item is not None, "a change has an item before or after"
    payload: dict[str, Any] = item.model_dump(mode="json", by_alias=True, include=set(fields))
    delivery.emit(event, payload)
