"""The access patterns: the use cases of the document's tables, and those of the base table."""

from __future__ import annotations

from keyfold import First, Get, GetMany, Merge, Query, each, get, get_many, merge
from keyfold_systems.tamafriends.entities import (
    WHOLE,
    Comment,
    Follow,
    Like,
    Post,
    UserProfile,
    design,
)

MOST_WALLS = 25
"""The most followed users whose posts one page puts together."""
PREFIXED = (("Q2", WHOLE), ("Q15", WHOLE))

# GSI1: by identifier or target


@design.pattern(requests=1)
def profile_by_email(email: str) -> First[UserProfile]:
    """The user who signs in with an email."""
    return UserProfile.by_email.query(email=email).first()


@design.pattern(requests=1)
def post_by_id(post_id: str) -> First[Post]:
    """A post by its id."""
    return Post.by_id.query(post_id=post_id).first()


@design.pattern(requests=1)
def followers(user_id: str, limit: int = 50) -> Query[Follow]:
    """The followers of a user."""
    return Follow.by_followee.query(followee_id=user_id).limit(limit)


@design.pattern(requests=1)
def comment_by_id(comment_id: str) -> First[Comment]:
    """A comment by its id."""
    return Comment.by_id.query(comment_id=comment_id).first()


# GSI2: by owner, and the target of a follow


@design.pattern(requests=1)
def profile_by_username(username: str) -> First[UserProfile]:
    """The user who signs in with a user name."""
    return UserProfile.by_username.query(username=username).first()


@design.pattern(requests=1)
def follows_of_target(user_id: str, limit: int = 50) -> Query[Follow]:
    """The follows of a target, as stream processors look them up."""
    return Follow.by_target.query(followee_id=user_id).limit(limit)


@design.pattern(requests=1)
def comments_of_user(user_id: str, limit: int = 50) -> Query[Comment]:
    """What a user commented, newest first."""
    return Comment.by_user.query(user_id=user_id).descending().limit(limit)


@design.pattern(requests=1)
def likes_of_user(user_id: str, limit: int = 50) -> Query[Like]:
    """What a user likes, the latest post first."""
    return Like.by_user.query(user_id=user_id).descending().limit(limit)


# GSI3: by public identifier


@design.pattern(requests=1)
def profile_by_handle(handle: str) -> First[UserProfile]:
    """A profile by its handle."""
    return UserProfile.by_handle.query(handle=handle).first()


# The base table


@design.pattern(requests=1)
def profile(user_id: str) -> Get[UserProfile]:
    """A profile."""
    return get(UserProfile.key(user_id=user_id))


@design.pattern(requests=1)
def profiles(user_ids: list[str]) -> GetMany[UserProfile]:
    """The profiles of a list."""
    return get_many(UserProfile.key(user_id=each(user_ids)))


@design.pattern(requests=1, silence=PREFIXED)
def posts_of_user(user_id: str, limit: int = 50) -> Query[Post]:
    """A user's posts, newest first."""
    return Post.key.query(user_id=user_id).begins_with(post_sk="POST#").descending().limit(limit)


@design.pattern(silence=(*PREFIXED, ("Q8", "one page reads the posts of at most 25 users")))
def posts_of_users(user_ids: list[str], limit: int = 20) -> Merge[Post]:
    """The posts of several users, newest first."""
    query = Post.key.query(user_id=each(user_ids)).begins_with(post_sk="POST#").descending()
    return merge(query, unique="post_id").limit(limit)


@design.pattern(requests=1, silence=(("Q2", WHOLE),))
def following(user_id: str, limit: int = 50) -> Query[Follow]:
    """Whom a user follows."""
    return Follow.key.query(follower_id=user_id).limit(limit)


@design.pattern(requests=1)
def comments_of_post(post_id: str, limit: int = 50) -> Query[Comment]:
    """A post's comments, in order."""
    return Comment.key.query(post_id=post_id).limit(limit)
