"""What people hear of while it happens; they hear what changed, and read it as they may."""

from __future__ import annotations

from keyfold_web import Identity, authenticated, itself, subscription
from keyfold.streams import Change
from keyfold_systems.tamafriends.entities import Comment, FeedItem, Follow, Post
from keyfold_systems.tamafriends.operations.access import Part
from keyfold_systems.tamafriends.payloads import PostChange, What


class Live(Part):
    """Changes of feeds and posts."""

    @subscription(Post, allow=itself("reader_id"))
    async def home_changed(self, change: Change[Post], reader_id: str) -> PostChange | None:
        """A post of somebody you follow, or of yours, is new, different or gone."""
        post = change.new or change.old
        assert post is not None, "a change has an item before or after"
        edge = Follow.key(follower_id=reader_id, followee_id=post.user_id)
        if post.user_id != reader_id and await self.db.find(edge) is None:
            return None
        what: What = "changed" if change.old is not None else "new"
        if change.new is None:
            what = "gone"
        return PostChange(post_id=post.post_id, user_id=post.user_id, what=what)

    @subscription(FeedItem, allow=itself("reader_id"))
    async def home_filled(self, change: Change[FeedItem], reader_id: str) -> PostChange | None:  # noqa: ARG002
        """A copy of a post has come to your home, also of one from before you listened."""
        copy = change.new
        if copy is None or change.old is not None:
            return None
        return PostChange(post_id=copy.post_id, user_id=copy.user_id, what="new")

    @subscription(Post, Comment, allow=authenticated)
    async def post_changed(
        self, change: Change[Post | Comment], post_id: str, caller: Identity
    ) -> PostChange | None:
        """A post, or what is said about it, changed; not of people whom a block keeps away."""
        item = change.new or change.old
        assert item is not None, "a change has an item before or after"
        people = {item.user_id, item.post_user_id if isinstance(item, Comment) else item.user_id}
        if (await self.views(caller).company(people)).apart:
            return None
        gone = isinstance(item, Post) and change.new is None
        what: What = "gone" if gone else "changed"
        return PostChange(post_id=post_id, user_id=item.user_id, what=what)
