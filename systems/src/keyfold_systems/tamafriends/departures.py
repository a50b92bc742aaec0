"""What leaves with a person, besides what their cascades take along."""

from __future__ import annotations

from typing import Any

from keyfold import delete
from keyfold.runtime import Intent
from keyfold.streams import Delivery
from keyfold_systems.tamafriends.entities import UserProfile, design, home


@design.on(UserProfile, "remove", name="forget_person")
def forget_person(old: UserProfile, _: None, _delivery: Delivery) -> list[Intent]:
    """What was counted of somebody's reading and posting."""
    user_id = old.user_id
    return [
        delete(home.reader_ref(user_id)),
        delete(home.support.hint.key(source=user_id)),
    ]


@design.on(home.support.hint, "insert", name="forget_hint")
async def forget_hint(_: None, new: Any, delivery: Delivery) -> list[Intent]:
    """A hint that a record of before made anew, of somebody who is gone."""
    author = await delivery.find(UserProfile.key(user_id=new.source))
    return [] if author is not None else [delete(new.ref())]


@design.on(home.support.source, "modify", name="forget_source")
async def forget_source(_: Any, new: Any, delivery: Delivery) -> list[Intent]:
    """A mark that hides somebody from a feed, when one of them is gone and the copies are too."""
    if new.state != "gone" or new.expires_at is None:
        return []
    for user_id in (new.reader_id, new.source):
        if await delivery.find(UserProfile.key(user_id=user_id)) is None:
            return [delete(new.ref(), where=lambda s: s.state == "gone")]
    return []
