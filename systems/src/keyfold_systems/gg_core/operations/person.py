"""A person's own data: all of it to take along, and leaving for good."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from keyfold import Query, create, update
from keyfold_web import Belonging, Identity, PersonalData, admin, itself, mutation
from keyfold.errors import AlreadyExists
from keyfold_systems.gg_core.departure import Departure, GroupPost
from keyfold_systems.gg_core.entities import Activity, Block, Follow, GroupMember, User
from keyfold_systems.gg_core.goals import Award, Goal, Quest, Task
from keyfold_systems.gg_core.operations.access import Part
from keyfold_systems.gg_core.operations.notices import inbox
from keyfold_systems.gg_core.oversight import Report, Suspension
from keyfold_systems.gg_core.rooms import Message, RoomMark, UserRoom


async def depart(service: Persons, user: User, caller: Identity) -> None:
    """Leave, with all that follows."""
    await service.delete_user(user.id, caller)


def _written(mark: RoomMark) -> Query[Any]:
    return Message.key.query(room_id=mark.room_id).where(lambda m: m.user_id == mark.user_id)


_POST = Belonging(
    "group activity",
    lambda post: Activity.key(
        actor_id=post.actor_id, activity_id=post.activity_id, created_at=post.created_at
    ),
)
_TASKS = Belonging("task", lambda goal: Task.key.query(goal_id=goal.goal_id))


class Persons(PersonalData, Part):
    """Taking one's data along, and leaving."""

    # The profile takes everything else along; it stays until nothing else is left.
    personal: ClassVar[Sequence[Belonging]] = (
        Belonging("profile", lambda me: User.key(id=me), leave=depart),
        Belonging("following", lambda me: Follow.key.query(follower_id=me), kept=True),
        Belonging("follower", lambda me: Follow.followers.query(followee_id=me), kept=True),
        Belonging("block", lambda me: Block.key.query(user_id=me), kept=True),
        Belonging("group", lambda me: GroupMember.by_user.query(user_id=me), kept=True),
        Belonging("goal", lambda me: Goal.key.query(user_id=me), kept=True, inside=(_TASKS,)),
        Belonging("quest", lambda me: Quest.key.query(user_id=me), kept=True),
        Belonging("award", lambda me: Award.key.query(user_id=me), kept=True),
        Belonging("activity", lambda me: Activity.key.query(actor_id=me), kept=True),
        Belonging(
            "group posts",
            lambda me: GroupPost.key.query(author_id=me),
            kept=True,
            inside=(_POST,),
            listed=False,
        ),
        Belonging("room", lambda me: UserRoom.key.query(user_id=me), kept=True),
        Belonging(
            "rooms written in",
            lambda me: RoomMark.key.query(user_id=me),
            kept=True,
            inside=(Belonging("message", _written),),
            listed=False,
        ),
        inbox.belonging(),
        Belonging("report", lambda me: Report.key.query(reporter_id=me), kept=True),
        Belonging("suspension", lambda me: Suspension.key(user_id=me), kept=True),
    )

    @mutation(
        "/users/{user_id}", name="deleteUser", method="DELETE", allow=itself("user_id") | admin
    )
    async def delete_user(self, user_id: str, caller: Identity) -> None:
        """Leave for good: from now on you write nothing, and all that you did here goes.

        It goes on by itself until nothing is left; asking again does no harm.
        """
        await self.delete_uploads(user_id)
        departure = Departure(user_id=user_id, asked_at=self.db.context.now())
        own = caller.id == user_id
        decided = [] if own else [self.audited(caller, "remove", f"user {user_id}")]
        try:
            await self.db.transact(
                update(User.key(id=user_id), leaving=True), create(departure), *decided
            )
        except AlreadyExists:
            return
