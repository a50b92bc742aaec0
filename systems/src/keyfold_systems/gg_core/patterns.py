"""The access patterns of gg_core."""

from __future__ import annotations

from datetime import datetime

from keyfold import Get, Query, get
from keyfold_systems.gg_core.entities import (
    Activity,
    Block,
    FeedItem,
    Follow,
    FollowersCounter,
    FollowingCounter,
    Group,
    GroupMember,
    User,
    design,
)
from keyfold_systems.gg_core.goals import Goal, Quest, Task
from keyfold_systems.gg_core.notices import Notice, UnreadCounter
from keyfold_systems.gg_core.oversight import AuditEntry, Report, ReportStatus
from keyfold_systems.gg_core.rooms import Message, Room, UserRoom


@design.pattern(requests=1)
def user_by_id(user_id: str) -> Get[User]:
    """A user's profile."""
    return get(User.key(id=user_id))


@design.pattern(requests=1)
def user_by_nickname(nickname: str, limit: int = 1) -> Query[User]:
    """A user by nickname."""
    return User.by_nickname.query(nickname=nickname).limit(limit)


@design.pattern(requests=1)
def user_by_email(email: str, limit: int = 1) -> Query[User]:
    """A user by email."""
    return User.by_email.query(email=email).limit(limit)


@design.pattern(requests=1)
def following(user_id: str, limit: int = 50) -> Query[Follow]:
    """Who I follow."""
    return Follow.key.query(follower_id=user_id).limit(limit)


@design.pattern(requests=1)
def followers(user_id: str, limit: int = 50) -> Query[Follow]:
    """Who follows me."""
    return Follow.followers.query(followee_id=user_id).limit(limit)


@design.pattern(requests=1)
def followers_count(user_id: str) -> Get[FollowersCounter]:
    """How many follow me."""
    return get(FollowersCounter.key(user_id=user_id))


@design.pattern(requests=1)
def following_count(user_id: str) -> Get[FollowingCounter]:
    """How many I follow."""
    return get(FollowingCounter.key(user_id=user_id))


@design.pattern(requests=1)
def blocked_users(user_id: str, limit: int = 50) -> Query[Block]:
    """Whom I blocked."""
    return Block.key.query(user_id=user_id).limit(limit)


@design.pattern(requests=1)
def blockers(user_id: str, limit: int = 50) -> Query[Block]:
    """Who blocked somebody, for when they leave."""
    return Block.blockers.query(blocked_id=user_id).limit(limit)


@design.pattern(requests=1)
def group_by_id(group_id: str) -> Get[Group]:
    """Get group."""
    return get(Group.key(group_id=group_id))


@design.pattern(requests=1)
def group_members(group_id: str, limit: int = 50) -> Query[GroupMember]:
    """List members."""
    return GroupMember.key.query(group_id=group_id).limit(limit)


@design.pattern(requests=1)
def groups_of_user(user_id: str, limit: int = 50) -> Query[GroupMember]:
    """Groups I'm in, newest first."""
    return GroupMember.by_user.query(user_id=user_id).descending().limit(limit)


@design.pattern(requests=1)
def goals_of_user(user_id: str, limit: int = 50) -> Query[Goal]:
    """My goals, newest first."""
    return Goal.by_user.query(user_id=user_id).descending().limit(limit)


@design.pattern(requests=1)
def tasks_of_goal(goal_id: str, limit: int = 50) -> Query[Task]:
    """The tasks under a goal."""
    return Task.key.query(goal_id=goal_id).limit(limit)


@design.pattern(requests=1)
def tasks_due(user_id: str, limit: int = 50) -> Query[Task]:
    """My tasks by due date."""
    return Task.by_due.query(user_id=user_id).limit(limit)


@design.pattern(requests=1)
def activities_of(actor_id: str, limit: int = 50) -> Query[Activity]:
    """What somebody did, newest first."""
    return Activity.key.query(actor_id=actor_id).descending().limit(limit)


@design.pattern(requests=1)
def comments_of(post_id: str, limit: int = 50) -> Query[Activity]:
    """The comments on an activity, oldest first."""
    return Activity.on_post.query(post_id=post_id).limit(limit)


@design.pattern()
def feed_items(follower_id: str, limit: int = 50) -> Query[FeedItem]:
    """The copies in a feed, newest first."""
    return FeedItem.key.query(follower_id=follower_id).descending().limit(limit)


@design.pattern(requests=1)
def quests_of_user(user_id: str, limit: int = 50) -> Query[Quest]:
    """My quests, newest first."""
    return Quest.by_user.query(user_id=user_id).descending().limit(limit)


@design.pattern(requests=1)
def quest_by_id(user_id: str, quest_id: str) -> Get[Quest]:
    """A quest."""
    return get(Quest.key(user_id=user_id, id=quest_id))


@design.pattern(requests=1)
def rooms_of_user(user_id: str, limit: int = 50) -> Query[UserRoom]:
    """My rooms."""
    return UserRoom.key.query(user_id=user_id).limit(limit)


@design.pattern(requests=1)
def rooms_of_group(group_id: str, limit: int = 50) -> Query[Room]:
    """The rooms of a group."""
    return Room.by_group.query(group_id=group_id).limit(limit)


@design.pattern()
def chat_history(room_id: str, limit: int = 50) -> Query[Message]:
    """A room's messages, newest first."""
    return Message.key.query(room_id=room_id).descending().limit(limit)


@design.pattern()
def notices_of(user_id: str, limit: int = 50) -> Query[Notice]:
    """What I am told, newest first."""
    return Notice.key.query(user_id=user_id).descending().limit(limit)


@design.pattern(requests=1)
def unread_count(user_id: str) -> Get[UnreadCounter]:
    """How much of it I have not read."""
    return get(UnreadCounter.key(user_id=user_id))


@design.pattern(requests=1)
def reports_by_status(status: ReportStatus, limit: int = 50) -> Query[Report]:
    """Reports, oldest first."""
    return Report.by_status.query(status=status).limit(limit)


@design.pattern(requests=1)
def audit_trail(month: datetime, limit: int = 50) -> Query[AuditEntry]:
    """What was decided in a month, newest first."""
    return AuditEntry.key.query(at=month).descending().limit(limit)
