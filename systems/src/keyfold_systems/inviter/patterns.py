"""The access patterns of Inviter: the guide's three use cases, and what else a page asks."""

from __future__ import annotations

from datetime import datetime

from keyfold import Get, GetMany, Merge, Query, each, get, get_many, merge
from keyfold_systems.inviter.entities import (
    Group,
    GroupMembership,
    Hangout,
    HangoutPointer,
    Response,
    User,
    UserHangoutPointer,
    design,
)


@design.pattern(requests=1)
def group_feed(group_id: str, limit: int = 50) -> Query[HangoutPointer]:
    """Use case 1: a group's feed, from pointer records alone."""
    return HangoutPointer.key.query(group_id=group_id).descending().limit(limit)


@design.pattern(requests=1)
def groups_of_user(user_id: str, limit: int = 200) -> Query[GroupMembership]:
    """Use case 2, step 1: the groups that a user belongs to."""
    return GroupMembership.by_user.query(user_id=user_id).limit(limit)


@design.pattern(silence=(("Q8", "the guide asks for all groups of a user, in parallel queries"),))
def user_upcoming(
    user_id: str, group_ids: list[str], now: datetime, limit: int = 50
) -> Merge[HangoutPointer | UserHangoutPointer]:
    """Use case 2: a user's complete hangout list, in the order of time."""
    invited = UserHangoutPointer.by_time.query(user_id=user_id).after(start_timestamp=now)
    grouped = HangoutPointer.by_time.query(group_id=each(group_ids)).after(start_timestamp=now)
    return merge(grouped, invited, unique="hangout_id").limit(limit)


@design.pattern(requests=1)
def group_upcoming(group_id: str, now: datetime, limit: int = 50) -> Query[HangoutPointer]:
    """The upcoming hangouts of a group."""
    found = HangoutPointer.by_time.query(group_id=group_id).after(start_timestamp=now)
    return found.limit(limit)


@design.pattern(requests=1)
def hangout_detail(hangout_id: str) -> Get[Hangout]:
    """Use case 3: full details for one hangout."""
    return get(Hangout.key(hangout_id=hangout_id))


@design.pattern(requests=1)
def responses_to(hangout_id: str, limit: int = 50) -> Query[Response]:
    """Who answered what."""
    return Response.key.query(hangout_id=hangout_id).limit(limit)


@design.pattern()
def answers_of(user_id: str, hangout_ids: list[str]) -> GetMany[Response]:
    """What a user answered to the hangouts of a list."""
    return get_many(Response.key(hangout_id=each(hangout_ids), user_id=user_id))


@design.pattern(requests=1)
def group(group_id: str) -> Get[Group]:
    """A group."""
    return get(Group.key(group_id=group_id))


@design.pattern(requests=1)
def membership(group_id: str, user_id: str) -> Get[GroupMembership]:
    """Whether a user is in a group."""
    return get(GroupMembership.key(group_id=group_id, user_id=user_id))


@design.pattern(requests=1)
def members_of_group(group_id: str, limit: int = 50) -> Query[GroupMembership]:
    """The members of a group, with their names."""
    return GroupMembership.key.query(group_id=group_id).limit(limit)


@design.pattern(requests=1)
def user(user_id: str) -> Get[User]:
    """A user."""
    return get(User.key(user_id=user_id))


@design.pattern()
def users(user_ids: list[str]) -> GetMany[User]:
    """The names of users."""
    return get_many(User.key(user_id=each(user_ids)))
