"""Activities, the feed that they come together in, and how sources reach their followers."""

from __future__ import annotations

from typing import Literal

from keyfold import Page, Timestamp, new_ulid
from keyfold.api import (
    Conflict,
    Identity,
    Invalid,
    Missing,
    NotAllowed,
    PageRequest,
    admin,
    authenticated,
    itself,
    mutation,
    query,
    related,
)
from keyfold.errors import NotFound
from keyfold_systems.gg_core.entities import (
    Activity,
    FeedItem,
    Follow,
    Goal,
    Group,
    GroupMember,
    Promotion,
    User,
    home,
)
from keyfold_systems.gg_core.operations.access import (
    Part,
    admin_of_actor,
    author,
    group_member,
    registered,
)
from keyfold_systems.gg_core.operations.people import shown
from keyfold_systems.gg_core.patterns import activities_of
from keyfold_systems.gg_core.payloads import (
    Entry,
    MediaView,
    NewActivity,
    Person,
    Reach,
    Reason,
    Upload,
    Way,
)

MOST_ENTRIES = 100


class Feeds(Part):
    """What people and groups do, and who sees it."""

    @mutation(
        "/activities",
        name="postActivity",
        allow=registered,
        status=201,
        example={"input": {"previewText": "Ran ten kilometres before breakfast."}},
    )
    async def post_activity(self, input: NewActivity, caller: Identity) -> Activity:
        """Tell your followers what you did, or the members of a group what it does."""
        actor = input.actor_id or caller.id
        if actor != caller.id and await self.role(actor, caller.id) is None:
            raise NotAllowed("You can post as yourself and in groups that you are in.")
        if input.media is not None and not input.media.s3_key.startswith(_folder(caller.id)):
            raise NotAllowed("You can post files that you uploaded.")
        await self._check_object(input, caller.id)
        new = new_ulid()
        values = dict(input) | {"actor_id": actor, "object_id": input.object_id or new}
        activity = Activity(
            activity_id=new, author_id=caller.id, created_at=self.db.context.now(), **values
        )
        return await home.post(self.db, activity)

    @mutation(
        "/actors/{actor_id}/activities/{activity_id}",
        name="deleteActivity",
        method="DELETE",
        allow=itself("actor_id") | author | admin_of_actor | admin,
    )
    async def delete_activity(
        self,
        actor_id: str,
        activity_id: str,
        created_at: Timestamp,
    ) -> None:
        """Take an activity back; it leaves every feed at once."""
        ref = Activity.key(actor_id=actor_id, activity_id=activity_id, created_at=created_at)
        try:
            activity: Activity = await self.db.get(ref)
            await self.db.transact(*home.removing(activity))
        except NotFound:
            raise Missing("There is no such activity.") from None

    @query("/users/{user_id}/activities", allow=authenticated)
    async def activities(self, user_id: str, page: PageRequest) -> Page[Entry]:
        """What somebody did, newest first."""
        if await self._is_group(user_id):
            raise Missing("There is no such user.")
        return await self._timeline(user_id, page)

    @query("/groups/{group_id}/activities", allow=group_member)
    async def group_activities(self, group_id: str, page: PageRequest) -> Page[Entry]:
        """A group's timeline, newest first."""
        return await self._timeline(group_id, page)

    @query("/users/{user_id}/feed", allow=itself("user_id"))
    async def feed(self, user_id: str, page: PageRequest) -> Page[Entry]:
        """What those you follow and the groups you are in did, newest first."""
        limit = min(page.limit, MOST_ENTRIES)
        found = await home.page(self.db, user_id, limit=limit, cursor=page.cursor)
        return Page([self._entry(one) for one in found], found.cursor)

    @related(Entry, name="author")
    async def entry_author(self, parents: list[Entry]) -> list[Person | None]:
        """Who wrote it."""
        ids = sorted({one.author_id for one in parents})
        found = await self.db.get_many([User.key(id=one) for one in ids])
        people = {one: shown(user) for one, user in zip(ids, found, strict=True) if user}
        return [people.get(one.author_id) for one in parents]

    @related(Entry, name="group")
    async def entry_group(self, parents: list[Entry]) -> list[Group | None]:
        """The group that it was done in, if any."""
        ids = sorted({one.actor_id for one in parents if one.actor_id != one.author_id})
        found = await self.db.get_many([Group.key(group_id=one) for one in ids])
        groups = dict(zip(ids, found, strict=True))
        return [groups.get(one.actor_id) for one in parents]

    @mutation(
        "/media",
        name="uploadMedia",
        allow=registered,
        status=201,
        remembered=False,
        example={"content_type": "image/png"},
    )
    async def upload_media(self, content_type: str, caller: Identity) -> Upload:
        """A link to send a file to; the key goes into an activity."""
        if self.media is None:
            raise Conflict("This server keeps no files.", code="NO_MEDIA")
        key = f"{_folder(caller.id)}{new_ulid()}"
        link = self.media.upload(key, content_type=content_type)
        return Upload(s3_key=key, **dict(link))

    @mutation("/promotions/{actor_id}", name="promote", method="PUT", allow=admin)
    async def promote(
        self,
        actor_id: str,
        fanout_enabled: bool,
        reason: Literal["followers", "volume", "manual"] = "manual",
    ) -> Promotion:
        """Decide whether the activities of a user or group are copied to their followers."""
        if await self.db.find(User.key(id=actor_id)) is None and not await self._is_group(actor_id):
            raise Missing("There is no such user or group.")
        flag = Promotion(user_id=actor_id, fanout_enabled=fanout_enabled, reason=reason)
        return await self.db.put(flag)

    @mutation("/promotions/{actor_id}", name="endPromotion", method="DELETE", allow=admin)
    async def end_promotion(self, actor_id: str) -> None:
        """Let the policy decide again how somebody's activities reach their followers."""
        await self.db.delete(Promotion.key(user_id=actor_id))

    @query("/promotions/{actor_id}/explanation", allow=admin)
    async def explain_reach(self, actor_id: str) -> Reach:
        """How somebody's activities reach their followers, and why."""
        found = await home.reach(self.db, actor_id)
        reasons = [Reason(follower_id=one, reason=why) for one, why in found.reasons.items()]
        return Reach(
            posts=found.posts,
            followers=found.followers,
            copied=found.copied,
            promoted=found.promoted,
            reasons=reasons,
        )

    @query("/promotions/{actor_id}/followers/{follower_id}", allow=admin)
    async def explain_way(self, actor_id: str, follower_id: str) -> Way:
        """How one follower gets somebody's activities, and what the policy says of it now."""
        if not await self._is_followed(actor_id, follower_id):
            raise Missing("There is no such follower.")
        found = await home.explain(self.db, follower_id, actor_id)
        return Way(mode=found.mode, saving=found.saving, price=found.price, reason=found.reason)

    async def _is_followed(self, actor_id: str, follower_id: str) -> bool:
        follow = Follow.key(follower_id=follower_id, followee_id=actor_id)
        member = GroupMember.key(group_id=actor_id, user_id=follower_id)
        return any(await self.db.get_many([follow, member]))

    async def _check_object(self, input: NewActivity, user_id: str) -> None:
        if input.verb == "post" and not input.preview_text.strip() and input.media is None:
            raise Invalid("previewText", "a post has text or media")
        if input.verb in ("comment", "goal_update") and input.object_id is None:
            raise Invalid("objectId", f"a {input.verb} is about something")
        if input.verb == "goal_update":
            if input.object_type != "Goal" or input.object_id is None:
                raise Invalid("objectType", "a goal_update is about a goal")
            if await self.db.find(Goal.key(user_id=user_id, goal_id=input.object_id)) is None:
                raise Invalid("objectId", "you have no such goal")

    async def _is_group(self, actor_id: str) -> bool:
        return await self.db.find(Group.key(group_id=actor_id)) is not None

    async def _timeline(self, actor_id: str, page: PageRequest) -> Page[Entry]:
        found = await activities_of.after(page.cursor)(self.db, actor_id, limit=page.limit)
        return Page([self._entry(one) for one in found], found.cursor)

    def _entry(self, item: Activity | FeedItem) -> Entry:
        """An activity with links that are made now: what is stored never expires."""
        values = {name: getattr(item, name) for name in Entry.model_fields}
        if item.media is not None:
            url = self.media.download(item.media.s3_key).url if self.media is not None else None
            values["media"] = MediaView(url=url, **dict(item.media))
        return Entry(**values)


def _folder(user_id: str) -> str:
    return f"users/{user_id}/"
