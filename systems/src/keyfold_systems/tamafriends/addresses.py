"""Ids that say where their items are, so that nobody has to wait for an index to find them.

An id begins with the moment of its item. A post's ends with its author: of both its key is made.
"""

from __future__ import annotations

import re
import secrets
from datetime import UTC, datetime, timedelta

from keyfold import Ref
from keyfold_systems.tamafriends.entities import Block, Comment, Post

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_POST = re.compile(r"([0-9a-f]{14})[0-9a-f]{10}-(.+)")
_OTHER = re.compile(r"([0-9a-f]{14})")


def new_post_id(at: datetime, user_id: str) -> str:
    return f"{new_id(at)}-{user_id}"


def new_id(at: datetime) -> str:
    """An id of this moment; later ones sort behind it."""
    return f"{stamp(at)}{secrets.token_hex(5)}"


def stamp(at: datetime) -> str:
    """A moment to the microsecond, in 14 letters that sort by time."""
    return f"{(at - _EPOCH) // timedelta(microseconds=1):014x}"


def post_address(post_id: str) -> Ref[Post] | None:
    """Where a post is; None if its id does not say it."""
    if (said := _POST.fullmatch(post_id)) is None:
        return None
    return Post.key(user_id=said[2], post_id=post_id, created_at=_moment(said[1]))


def comment_address(post_id: str, comment_id: str) -> Ref[Comment] | None:
    if (said := _OTHER.match(comment_id)) is None:
        return None
    return Comment.key(post_id=post_id, comment_id=comment_id, created_at=_moment(said[1]))


def block_addresses(one: str, other: str) -> list[Ref[Block]]:
    """Where blocks between two people would be, in both directions."""
    pairs = [(one, other), (other, one)] if one != other else []
    return [Block.key(user_id=user_id, blocked_id=blocked_id) for user_id, blocked_id in pairs]


def _moment(said: str) -> datetime:
    return _EPOCH + timedelta(microseconds=int(said, 16))
