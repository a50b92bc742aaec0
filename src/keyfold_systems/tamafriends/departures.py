"""What leaves with a post or with a person, besides what their cascades take along."""

from __future__ import annotations

from typing import Any

from keyfold import delete
from keyfold.runtime import Intent
from keyfold.streams import Delivery
from keyfold_systems.tamafriends import attempts
from keyfold_systems.tamafriends.entities import Attempts, Post, UserProfile, design, home


@design.on(Post, "remove", name="leave_feeds")
def leave_feeds(old: Post, _: None, _delivery: Delivery) -> list[Intent]:
    """A post that was deleted, expired or went with its author leaves the feeds too."""
    return home.removing(old)[1:]


@design.on(UserProfile, "remove", name="forget_person")
def forget_person(old: UserProfile, _: None, _delivery: Delivery) -> list[Intent]:
    """What was counted of somebody's reading, posting and signing in."""
    user_id = old.user_id
    return [
        delete(home.reader_ref(user_id)),
        delete(home.support.hint.key(source=user_id)),
        delete(Attempts.key(subject=attempts.of_account(user_id))),
    ]


@design.on(home.support.source, "modify", name="forget_source")
async def forget_source(_: Any, new: Any, delivery: Delivery) -> list[Intent]:
    """A mark that hides somebody from a feed, when one of them is gone and the copies are too."""
    if new.state != "gone" or new.expires_at is None:
        return []
    for user_id in (new.reader_id, new.source):
        if await delivery.find(UserProfile.key(user_id=user_id)) is None:
            return [delete(new.ref(), where=lambda s: s.state == "gone")]
    return []
