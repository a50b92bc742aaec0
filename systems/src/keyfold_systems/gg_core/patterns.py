"""The core access patterns of the document, in its order."""

from __future__ import annotations

from keyfold import Collection, First, Get, Merge, Query, collection, each, get, merge
from keyfold_systems.gg_core.entities import (
    Activity,
    FeedItem,
    Follow,
    FollowersCounter,
    FollowingCounter,
    Goal,
    Group,
    GroupMember,
    Message,
    Quest,
    RoomOfUser,
    Task,
    User,
    design,
)

# Users and follows


@design.pattern(requests=1)
def who_i_follow(user_id: str, limit: int = 50) -> Query[Follow]:
    """The users whom a user follows."""
    return Follow.key.query(follower_id=user_id).limit(limit)


@design.pattern(requests=1)
def who_follows_me(user_id: str, limit: int = 50) -> Query[Follow]:
    """The followers of a user."""
    return Follow.followers.query(followee_id=user_id).limit(limit)


@design.pattern(requests=1)
def follower_count(user_id: str) -> Get[FollowersCounter]:
    """How many follow a user."""
    return get(FollowersCounter.key(user_id=user_id))


@design.pattern(requests=1)
def following_count(user_id: str) -> Get[FollowingCounter]:
    """How many a user follows."""
    return get(FollowingCounter.key(user_id=user_id))


@design.pattern(requests=1)
def user_by_nickname(nickname: str) -> First[User]:
    """A user by nickname."""
    return User.by_nickname.query(nickname=nickname).first()


@design.pattern(requests=1)
def user_by_email(email: str) -> First[User]:
    """A user by email."""
    return User.by_email.query(email=email).first()


@design.pattern(requests=1)
def timeline(user_id: str, limit: int = 50) -> Collection[User | GroupMember | Goal | Task | Quest]:
    """What a user made: the entities of GSI1."""
    return collection(
        User.by_owner,
        GroupMember.by_user,
        Goal.by_owner,
        Task.by_due,
        Quest.by_owner,
        user_id=user_id,
    ).limit(limit)


@design.pattern(requests=1)
def goals(user_id: str, limit: int = 50) -> Query[Goal]:
    """A user's goals, newest first."""
    return Goal.by_owner.query(user_id=user_id).descending().limit(limit)


@design.pattern(requests=1)
def tasks_due(user_id: str, limit: int = 50) -> Query[Task]:
    """A user's tasks, by when they are due."""
    return Task.by_due.query(user_id=user_id).limit(limit)


# Groups


@design.pattern(requests=1)
def group(group_id: str) -> Get[Group]:
    """A group."""
    return get(Group.key(group_id=group_id))


@design.pattern(requests=1)
def members(group_id: str, limit: int = 50) -> Query[GroupMember]:
    """The members of a group."""
    return GroupMember.key.query(group_id=group_id).limit(limit)


@design.pattern(requests=1)
def my_groups(user_id: str, limit: int = 50) -> Query[GroupMember]:
    """The groups of a user."""
    return GroupMember.by_user.query(user_id=user_id).limit(limit)


# Feed; `home.page` puts both reads together


@design.pattern(silence=(("Q8", "a page of the feed reads so; the document asks for it"),))
def fan_in(followee_ids: list[str], limit: int = 50) -> Merge[Activity]:
    """Fan-in read: the activities of all who are followed and not promoted."""
    return merge(Activity.key.query(actor_id=each(followee_ids)).descending()).limit(limit)


@design.pattern(requests=1)
def fan_out(user_id: str, limit: int = 50) -> Query[FeedItem]:
    """Fan-out read: the copies of the activities of promoted users."""
    return FeedItem.key.query(follower_id=user_id).descending().limit(limit)


# Quests


@design.pattern(requests=1)
def quests(user_id: str, limit: int = 50) -> Query[Quest]:
    """The quests of a user, newest first."""
    return Quest.by_owner.query(user_id=user_id).descending().limit(limit)


@design.pattern(requests=1)
def quest(user_id: str, quest_id: str) -> Get[Quest]:
    """A quest."""
    return get(Quest.key(user_id=user_id, quest_id=quest_id))


# Chat


@design.pattern(requests=1)
def history(room_id: str, limit: int = 50) -> Query[Message]:
    """The messages of a room, newest first."""
    return Message.key.query(room_id=room_id).descending().limit(limit)


@design.pattern(requests=1)
def rooms_of_user(user_id: str, limit: int = 50) -> Query[RoomOfUser]:
    """The rooms of a user."""
    return RoomOfUser.key.query(user_id=user_id).limit(limit)


# Single reads of the base table


@design.pattern(requests=1)
def activities(actor_id: str, limit: int = 50) -> Query[Activity]:
    """What a user or a group did, newest first."""
    return Activity.key.query(actor_id=actor_id).descending().limit(limit)


@design.pattern(requests=1)
def tasks_of_goal(goal_id: str, limit: int = 50) -> Query[Task]:
    """The tasks of a goal."""
    return Task.key.query(goal_id=goal_id).limit(limit)
