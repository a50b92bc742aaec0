"""The access patterns of Inviter."""

from __future__ import annotations

from datetime import datetime

from keyfold import First, Get, Merge, Query, each, get, merge
from keyfold_systems.inviter.entities import (
    MOST_GROUPS_OF_A_USER,
    Group,
    GroupHangout,
    GroupInvitation,
    Hangout,
    Membership,
    Notification,
    Response,
    User,
    UserHangout,
    design,
)


@design.pattern(requests=1)
def user_by_id(user_id: str) -> Get[User]:
    """A user."""
    return get(User.key(user_id=user_id))


@design.pattern(
    requests=1,
    silence=(("Q15", "whoever types the beginning of a name looks for all longer ones too"),),
)
def people_named(initial: str, beginning: str, limit: int = 20) -> Query[User]:
    """People whose name begins so."""
    query = User.by_name.query(initial=initial).begins_with(found_as=beginning)
    return query.limit(limit)


@design.pattern(requests=1)
def group_by_id(group_id: str) -> Get[Group]:
    """A group."""
    return get(Group.key(group_id=group_id))


@design.pattern(requests=1)
def membership(group_id: str, user_id: str) -> Get[Membership]:
    """Whether a user is in a group."""
    return get(Membership.key(group_id=group_id, user_id=user_id))


@design.pattern(requests=1)
def members_of_group(group_id: str, limit: int = 50) -> Query[Membership]:
    """The members of a group, with their names."""
    return Membership.key.query(group_id=group_id).limit(limit)


@design.pattern(requests=1)
def groups_of_user(user_id: str, limit: int = MOST_GROUPS_OF_A_USER) -> Query[Membership]:
    """The groups that a user belongs to, with their names."""
    return Membership.by_user.query(user_id=user_id).limit(limit)


@design.pattern(requests=1)
def invitations_of_group(group_id: str, limit: int = 50) -> Query[GroupInvitation]:
    """Who was asked into a group and has not joined yet."""
    return GroupInvitation.key.query(group_id=group_id).limit(limit)


@design.pattern(requests=1)
def invitations_of_user(user_id: str, limit: int = 50) -> Query[GroupInvitation]:
    """The groups that a user was asked into."""
    return GroupInvitation.by_user.query(user_id=user_id).limit(limit)


@design.pattern()
def notifications_of(user_id: str, limit: int = 50) -> Query[Notification]:
    """What a user is to know, newest first."""
    return Notification.key.query(user_id=user_id).descending().limit(limit)


@design.pattern(requests=1)
def group_feed(group_id: str, limit: int = 50) -> Query[GroupHangout]:
    """A group's feed, newest first, from pointers alone."""
    return GroupHangout.key.query(group_id=group_id).descending().limit(limit)


@design.pattern()
def group_upcoming(
    group_id: str, earliest: datetime, now: datetime, limit: int = 50
) -> Query[GroupHangout]:
    """What a group has before it, running hangouts included, by time."""
    query = GroupHangout.by_time.query(group_id=group_id).since(starts_at=earliest)
    return query.where(lambda p: p.ends_at > now).limit(limit)


@design.pattern(
    silence=(("Q8", "a user is in at most 200 groups: joining another one is refused"),)
)
def user_upcoming(
    user_id: str, group_ids: list[str], earliest: datetime, now: datetime, limit: int = 50
) -> Merge[GroupHangout | UserHangout]:
    """All that a user has before them: own invitations and those of all their groups."""
    invited = UserHangout.by_time.query(user_id=user_id).since(starts_at=earliest)
    grouped = GroupHangout.by_time.query(group_id=each(group_ids)).since(starts_at=earliest)
    return merge(
        grouped.where(lambda p: p.ends_at > now),
        invited.where(lambda p: p.ends_at > now),
        unique="hangout_id",
    ).limit(limit)


@design.pattern(requests=1)
def hangout_by_id(hangout_id: str) -> Get[Hangout]:
    """One hangout's detail page."""
    return get(Hangout.key(hangout_id=hangout_id))


@design.pattern(requests=1)
def responses_to(hangout_id: str, limit: int = 50) -> Query[Response]:
    """Who answered what."""
    return Response.key.query(hangout_id=hangout_id).limit(limit)


@design.pattern(requests=1)
def hosted_by(user_id: str, limit: int = 50) -> Query[Hangout]:
    """The hangouts that a user hosts, newest first."""
    return Hangout.by_host.query(host_id=user_id).descending().limit(limit)


@design.pattern(requests=1)
def answers_of(user_id: str, limit: int = 50) -> Query[Response]:
    """What a user answered."""
    return Response.by_user.query(user_id=user_id).limit(limit)


@design.pattern(requests=1)
def next_of_group(group_id: str, now: datetime) -> First[GroupHangout]:
    """The next hangout of a group."""
    return GroupHangout.by_time.query(group_id=group_id).since(starts_at=now).first()
