"""What people are told: a list for each account, kept by the stream."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from keyfold import put
from keyfold.runtime import Intent
from keyfold.streams import Delivery
from keyfold_systems.sellers.entities import (
    Account,
    Invite,
    InviteOfProfile,
    Notice,
    NoticeKind,
    Profile,
    Share,
    design,
)

NEWS: Final = timedelta(minutes=5)
"""What is older when it is written was copied here, and is no news."""


@design.on(Share, "insert", "modify")
async def tell_helper(old: Share | None, new: Share, delivery: Delivery) -> list[Intent]:
    """Who may use a profile, or do something else with it, is told; who used an invite knows."""
    if old is not None and old.permissions == new.permissions:
        return []
    if delivery.record.at - new.created_at > NEWS:
        return []
    invites = InviteOfProfile.key.query(profile_id=new.profile_id).consistent()
    for one in await delivery.read(invites):
        if (one.used_by_account_id, one.used_at) == (new.target_account_id, new.created_at):
            return []
    kind: NoticeKind = "shared" if old is None else "permissions_changed"
    said = f"{new.seller_name or ''}: {', '.join(new.permissions)}"
    return await _tell(
        delivery, new.target_account_id, kind, new.created_by_account_id, new.profile_id, said
    )


@design.on(Invite, "modify")
async def tell_inviter(old: Invite, new: Invite, delivery: Delivery) -> list[Intent]:
    """Who made an invite is told by whom it was used."""
    if old.used_at is not None or new.used_at is None or new.used_by_account_id is None:
        return []
    profile = await delivery.find(Profile.key(profile_id=new.profile_id))
    if profile is None:
        return []
    by, of = new.created_by_account_id, new.profile_id
    return await _tell(
        delivery, by, "invite_redeemed", new.used_by_account_id, of, profile.seller_name
    )


async def _tell(
    delivery: Delivery, user_id: str, kind: NoticeKind, actor_id: str, subject_id: str, text: str
) -> list[Intent]:
    """A notice of what somebody else did; its key follows from the change, so there is one."""
    account = await delivery.find(Account.key(account_id=user_id))
    if user_id == actor_id or account is None or account.deleting_since is not None:
        return []
    notice = Notice(
        user_id=user_id,
        notice_id=delivery.record.event_id,
        kind=kind,
        actor_id=actor_id,
        subject_id=subject_id,
        text=text,
        created_at=delivery.record.at,
    )
    return [] if await delivery.find(notice.ref()) else [put(notice)]
