"""Activities, comments on them, and the feed that they come together in."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from keyfold import Page, Timestamp, new_ulid
from keyfold_web import (
    Conflict,
    Identity,
    Invalid,
    Missing,
    NotAllowed,
    PageRequest,
    authenticated,
    itself,
    moderator,
    mutation,
    query,
    related,
    upload_folder,
)
from keyfold.errors import NotFound
from keyfold_systems.gg_core.entities import Activity, CommentsCounter, FeedItem, Group, User, home
from keyfold_systems.gg_core.goals import Goal, Task
from keyfold_systems.gg_core.operations.access import (
    Part,
    admin_of_actor,
    author,
    group_member,
    registered,
)
from keyfold_systems.gg_core.operations.people import person_of
from keyfold_systems.gg_core.patterns import activities_of, comments_of
from keyfold_systems.gg_core.payloads import (
    Entry,
    MediaView,
    NewActivity,
    Person,
    Upload,
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
        if input.media is not None and not input.media.s3_key.startswith(
            f"{upload_folder(caller.id)}/"
        ):
            raise NotAllowed("You can post files that you uploaded.")
        about = await self._about(input, actor, caller)
        new = new_ulid()
        given = input.model_dump(exclude={"actor_id", "object_actor_id", "object_created_at"})
        activity = Activity.model_validate(
            given
            | about
            | {
                "activity_id": new,
                "actor_id": actor,
                "author_id": caller.id,
                "group_id": None if actor == caller.id else actor,
                "object_id": input.object_id or new,
                "created_at": self.db.context.now(),
            }
        )
        return await home.post(self.db, activity)

    @mutation(
        "/actors/{actor_id}/activities/{activity_id}",
        name="deleteActivity",
        method="DELETE",
        allow=itself("actor_id") | author | admin_of_actor | moderator,
    )
    async def delete_activity(
        self, actor_id: str, activity_id: str, created_at: Timestamp, caller: Identity
    ) -> None:
        """Take an activity back; it leaves every feed at once, and its comments go with it."""
        ref = Activity.key(actor_id=actor_id, activity_id=activity_id, created_at=created_at)
        entry = self.audited(caller, "remove", f"activity {actor_id}/{activity_id}")
        try:
            activity: Activity = await self.db.get(ref)
            own = caller.id in (actor_id, activity.author_id)
            await self.db.transact(*home.removing(activity), *([] if own else [entry]))
        except NotFound:
            raise Missing.of("activity", activity_id) from None

    @query("/users/{user_id}/activities", allow=authenticated)
    async def activities(self, user_id: str, page: PageRequest, caller: Identity) -> Page[Entry]:
        """What somebody did, newest first; not where one of you blocked the other."""
        if await self.is_group(user_id):
            raise Missing.of("user", user_id)
        await self.refuse_blocked(caller.id, {user_id})
        return await self._timeline(user_id, page, caller)

    @query("/groups/{group_id}/activities", allow=group_member)
    async def group_activities(
        self, group_id: str, page: PageRequest, caller: Identity
    ) -> Page[Entry]:
        """A group's timeline, newest first."""
        return await self._timeline(group_id, page, caller)

    @query("/actors/{actor_id}/activities/{activity_id}/comments", allow=authenticated)
    async def comments(
        self, actor_id: str, activity_id: str, page: PageRequest, caller: Identity
    ) -> Page[Entry]:
        """What was said about an activity, oldest first, to those who see it."""
        if not await self.sees(actor_id, caller):
            raise NotAllowed("You do not see this activity.")
        found = await comments_of.after(page.cursor)(self.db, activity_id, limit=page.limit)
        kept = [one for one in found if one.post_actor_id == actor_id]
        return Page(await self._entries(kept, caller.id), found.cursor)

    @query("/users/{user_id}/feed", allow=itself("user_id"))
    async def feed(self, user_id: str, page: PageRequest) -> Page[Entry]:
        """What those you follow and the groups you are in did, newest first."""
        limit = min(page.limit, MOST_ENTRIES)
        found = await home.page(self.db, user_id, limit=limit, cursor=page.cursor)
        return Page(await self._entries(list(found), user_id), found.cursor)

    @related(Entry, name="author")
    async def entry_author(self, parents: list[Entry]) -> list[Person | None]:
        """Who wrote it."""
        people = await self.users(one.author_id for one in parents)
        return [person_of(people, one.author_id) for one in parents]

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
        example={"content_type": "image/png"},
    )
    async def upload_media(
        self, content_type: str, caller: Identity, request_id: str | None = None
    ) -> Upload:
        """A link to send a file to; the key, one for a request, goes into an activity."""
        if self.media is None:
            raise Conflict("This server keeps no files.", code="NO_MEDIA")
        key = f"{upload_folder(caller.id)}/{(request_id or new_ulid())[:32]}"
        link = self.media.upload(key, content_type=content_type)
        return Upload(s3_key=key, **dict(link))

    async def _about(
        self, input: NewActivity, actor: str, caller: Identity
    ) -> dict[str, str | datetime | None]:
        """What an activity belongs to: the post that it is a comment on, or the author's goal."""
        verb, kind = input.verb, input.object_type
        if verb == "post" and not input.preview_text.strip() and input.media is None:
            raise Invalid("previewText", "a post has text or media")
        if verb in ("comment", "goal_update") and actor != caller.id:
            raise Invalid("actorId", f"a {verb} is your own, not a group's")
        if verb == "goal_update" and kind != "Goal":
            raise Invalid("objectType", "a goal_update is about a goal")
        if kind == "Post" and verb != "comment":
            return {}
        if input.object_id is None:
            raise Invalid("objectId", f"say which {kind.lower()} it is about")
        if kind == "Post":
            return await self._about_post(input, input.object_id, caller)
        if not await self._is_ones_own(input, input.object_id, caller.id):
            raise Invalid("objectId", f'you have no {kind.lower()} "{input.object_id}"')
        goals = {"Goal": input.object_id, "Task": input.object_actor_id}
        return {"goal_id": goals.get(kind)}

    async def _about_post(
        self, input: NewActivity, post_id: str, caller: Identity
    ) -> dict[str, str | datetime | None]:
        actor_id, created_at = input.object_actor_id, input.object_created_at
        if not input.preview_text.strip() and input.media is None:
            raise Invalid("previewText", "a comment has text or media")
        if actor_id is None or created_at is None:
            raise Invalid("objectActorId", "say whose post it is, and when it was made")
        ref = Activity.key(actor_id=actor_id, activity_id=post_id, created_at=created_at)
        post = await self.db.find(ref)
        if (
            post is None
            or not await self.sees(actor_id, caller)
            or await self.are_apart(caller.id, [post.author_id])
        ):
            raise Invalid("objectId", f'post "{post_id}" does not exist')
        return {"post_id": post_id, "post_actor_id": actor_id, "post_created_at": created_at}

    async def _is_ones_own(self, input: NewActivity, object_id: str, user_id: str) -> bool:
        """Whether there is such a goal or task of somebody's, or a group that they are in."""
        if input.object_type == "Goal":
            return await self.db.find(Goal.key(user_id=user_id, goal_id=object_id)) is not None
        if input.object_type == "Group":
            return await self.role(object_id, user_id) is not None
        if input.object_actor_id is None:
            raise Invalid("objectActorId", "say which goal the task is for")
        ref = Task.key(goal_id=input.object_actor_id, task_id=object_id)
        task = await self.db.find(ref)
        return task is not None and task.user_id == user_id

    async def _timeline(self, actor_id: str, page: PageRequest, caller: Identity) -> Page[Entry]:
        found = await activities_of.after(page.cursor)(self.db, actor_id, limit=page.limit)
        return Page(await self._entries(list(found), caller.id), found.cursor)

    async def _entries(self, items: Sequence[Activity | FeedItem], user_id: str) -> list[Entry]:
        """Activities with names and numbers of comments, which are read together."""
        authors = sorted({one.author_id for one in items})
        groups = sorted({one.actor_id for one in items if one.actor_id != one.author_id})
        refs: list[Any] = [
            *(User.key(id=one) for one in authors),
            *(Group.key(group_id=one) for one in groups),
            *(CommentsCounter.key(post_id=one.activity_id) for one in items),
        ]
        found = await self.db.get_many(refs)
        people = dict(zip(authors, found, strict=False))
        joined = dict(zip(groups, found[len(authors) :], strict=False))
        counts = found[len(authors) + len(groups) :]
        return [
            self._entry(
                one,
                author_name=getattr(people[one.author_id], "full_name", None),
                group_name=getattr(joined.get(one.actor_id), "name", None),
                comments=count.count if count is not None else 0,
                mine=one.author_id == user_id,
            )
            for one, count in zip(items, counts, strict=True)
        ]

    def _entry(self, item: Activity | FeedItem, **more: Any) -> Entry:
        """An activity with links that are made now: what is stored never expires."""
        values = {name: getattr(item, name) for name in Entry.model_fields if name not in more}
        if item.media is not None:
            url = self.media.download(item.media.s3_key).url if self.media is not None else None
            values["media"] = MediaView(url=url, **dict(item.media))
        return Entry(**values, **more)
