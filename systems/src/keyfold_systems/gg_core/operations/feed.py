"""Activities, the feed that they come together in, and who is promoted."""

from __future__ import annotations

from collections.abc import Sequence

from keyfold import Page, new_ulid, put
from keyfold.streams import Change
from keyfold_systems.gg_core import patterns
from keyfold_systems.gg_core.entities import (
    Activity,
    FeedItem,
    Follow,
    Group,
    GroupMember,
    Promotion,
    Role,
    home,
)
from keyfold_systems.gg_core.media import MediaStore, Upload
from keyfold_systems.gg_core.operations.access import Part, profile_of
from keyfold_systems.gg_core.views import Entry, NewActivity
from keyfold_web import (
    Conflict,
    Identity,
    Invalid,
    NotAllowed,
    PageRequest,
    admin,
    authenticated,
    itself,
    mutation,
    query,
    subscription,
)

MOST_ENTRIES = 100


class Feeds(Part):
    """What people and groups do, and who sees it."""

    store: MediaStore | None = None

    @mutation("/activities", allow=authenticated, status=201)
    async def post_activity(self, input: NewActivity, caller: Identity) -> Activity:
        """Post an activity for your followers, or for a group that you own or administer."""
        actor, new = input.actor_id or caller.id, new_ulid()
        leads = (Role.OWNER, Role.ADMIN)
        if actor != caller.id and await self.role(actor, caller.id) not in leads:
            raise NotAllowed("Post as yourself, or for a group that you are an owner or admin of.")
        if input.media is not None and not input.media.s3_key.startswith(_folder(caller.id)):
            raise Invalid("media", "is not a file that you uploaded")
        if input.object_id is None and input.object_type != "Post":
            raise Invalid("objectId", f"say which {input.object_type.lower()} it is about")
        given = dict(input) | {
            "activity_id": new,
            "actor_id": actor,
            "object_id": input.object_id or new,
            "created_at": self.db.context.now(),
        }
        made, *_ = await self.db.transact(put(Activity(**given)), profile_of(caller.id))
        return made

    @query("/users/{user_id}/activities", allow=authenticated)
    async def activities(self, user_id: str, page: PageRequest, caller: Identity) -> Page[Entry]:
        """A user's activities, newest first; those of a group, for its members."""
        group = await self.db.find(Group.key(group_id=user_id))
        if group is not None and await self.role(user_id, caller.id) is None:
            raise NotAllowed("Only its members see what a group does.")
        found = await page.read(self.db, patterns.activities, user_id)
        return Page(await self._entries(found.items), found.cursor)

    @query("/users/{user_id}/feed", allow=itself("user_id"))
    async def feed(self, user_id: str, page: PageRequest) -> Page[Entry]:
        """Activities of users you follow and of your groups, newest first."""
        limit = min(page.limit, MOST_ENTRIES)
        found = await home.page(self.db, user_id, limit=limit, cursor=page.cursor)
        return Page(await self._entries(found.items), found.cursor)

    @subscription(Activity, allow=itself("user_id"))
    async def feed_added(self, change: Change[Activity], user_id: str) -> Entry | None:
        """What those you follow and your groups do, as it happens."""
        new = change.new
        if new is None or change.old is not None:
            return None
        follow = Follow.key(follower_id=user_id, followee_id=new.actor_id)
        member = GroupMember.key(group_id=new.actor_id, user_id=user_id)
        if await self.db.find(follow) is None and await self.db.find(member) is None:
            return None
        [entry] = await self._entries([new])
        return entry

    @mutation("/media", allow=authenticated, status=201)
    async def upload_media(self, content_type: str, caller: Identity) -> Upload:
        """A link to upload a file; its key goes into an activity."""
        if self.store is None:
            raise Conflict("This server keeps no files.", code="NO_MEDIA")
        return self.store.upload(f"{_folder(caller.id)}{new_ulid()}", content_type)

    @mutation("/promotions/{user_id}", method="PUT", allow=admin)
    async def set_promotion(self, user_id: str, fanout_enabled: bool) -> Promotion:
        """Promote a user or a group, or stop it: an operator overrules the thresholds."""
        return await self.db.put(Promotion(user_id=user_id, fanout_enabled=fanout_enabled))

    @query("/promotions/{user_id}", allow=admin)
    async def promotion(self, user_id: str) -> Promotion:
        """Whether a user or a group is promoted, and why."""
        return await self.db.get(Promotion.key(user_id=user_id))

    async def _entries(self, found: Sequence[Activity | FeedItem]) -> list[Entry]:
        actors = sorted({one.actor_id for one in found})
        names = await self.names(actors)
        flags = await self.db.get_many([Promotion.key(user_id=one) for one in actors])
        promoted = {one.user_id for one in flags if one is not None and one.fanout_enabled}
        return [
            Entry.of(
                one,
                actor_name=names.get(one.actor_id, ""),
                promoted=one.actor_id in promoted,
                media_url=self.store.url(one.media.s3_key) if self.store and one.media else None,
            )
            for one in found
        ]


def _folder(user_id: str) -> str:
    return f"users/{user_id}/"
