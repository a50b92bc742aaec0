"""The operations of gg_core, with the document's own names for its mutations."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import Field

from keyfold import (
    AsyncDb,
    Design,
    Page,
    Timestamp,
    check,
    create,
    delete,
    new_ulid,
    update,
)
from keyfold.errors import AlreadyExists, ConditionFailed
from keyfold.serve import (
    Arguments,
    Conflict,
    Identity,
    Invalid,
    Missing,
    NotAllowed,
    PageRequest,
    Payload,
    Service,
    admin,
    authenticated,
    itself,
    mutation,
    query,
    rule,
)
from keyfold_systems.gg_core import quests as quest_progress
from keyfold_systems.gg_core.design import (
    MOST_MEMBERS_OF_A_ROOM,
    Activity,
    Block,
    FeedItem,
    Follow,
    Goal,
    Group,
    GroupMember,
    LongText,
    Media,
    Message,
    ObjectType,
    Promotion,
    Quest,
    Role,
    Room,
    Tags,
    Task,
    Text,
    User,
    UserRoom,
    Verb,
    activities_of,
    chat_history,
    design,
    followers,
    followers_count,
    following,
    following_count,
    goals_of_user,
    group_members,
    groups_of_user,
    home,
    quests_of_user,
    rooms_of_user,
    tasks_due,
    tasks_of_goal,
    user_by_email,
    user_by_nickname,
)

T = TypeVar("T")

__all__ = ["GgCore", "quest_progress", "service"]


class NewUser(Payload):
    """A profile."""

    nickname: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{2,30}$")]
    email: Annotated[str, Field(pattern=r"^[^@\s#]+@[^@\s#]+$", max_length=200)]
    full_name: Text
    language: Annotated[str, Field(max_length=10)] = "en"
    tags: Tags = set()


class UserChange(Payload):
    """What changes about a profile; what is left out stays."""

    nickname: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{2,30}$")] | None = None
    email: Annotated[str, Field(pattern=r"^[^@\s#]+@[^@\s#]+$", max_length=200)] | None = None
    full_name: Text | None = None
    language: Annotated[str, Field(max_length=10)] | None = None


class Counts(Payload):
    followers: int
    following: int


class NewGroup(Payload):
    name: Text
    description: LongText = ""
    tags: Tags = set()
    is_persistent: bool = True


class NewGoal(Payload):
    title: Text
    description: LongText = ""
    tags: Tags = set()


class NewTask(Payload):
    title: Text
    due_at: Timestamp | None = None


class NewActivity(Payload):
    """Something you did."""

    verb: Verb = "post"
    object_type: ObjectType = "Post"
    object_id: Annotated[str, Field(min_length=1, max_length=100)] = "-"
    preview_text: LongText = ""
    media: Media | None = None
    tags: Tags = set()


class NewQuest(Payload):
    title: Text
    description: LongText = ""
    difficulty: Literal["easy", "medium", "hard"] = "easy"
    reward_xp: Annotated[int, Field(ge=0, le=10_000)] = 10
    tags: Tags = set()
    deadline: Timestamp | None = None
    kind: Literal["linked", "quantitative"]
    linked_goal_ids: Annotated[set[str], Field(max_length=20)] = set()
    linked_task_ids: Annotated[dict[str, str], Field(max_length=20)] = {}
    """Task ids with the ids of their goals."""
    target_count: Annotated[int, Field(ge=1, le=10_000)] | None = None
    count_scope: Literal["any", "linked"] = "any"
    start_at: Timestamp | None = None
    period_seconds: Annotated[int, Field(ge=60, le=366 * 86400)] | None = None


class NewRoom(Payload):
    scope: Literal["dm", "group"]
    members: Annotated[set[str], Field(min_length=1, max_length=MOST_MEMBERS_OF_A_ROOM)]


@rule
async def group_member(service: GgCore, caller: Identity, arguments: Arguments) -> bool:
    return await service.role(arguments["group_id"], caller.id) is not None


@rule
async def group_admin(service: GgCore, caller: Identity, arguments: Arguments) -> bool:
    return await service.role(arguments["group_id"], caller.id) in (Role.OWNER, Role.ADMIN)


@rule
async def group_owner(service: GgCore, caller: Identity, arguments: Arguments) -> bool:
    return await service.role(arguments["group_id"], caller.id) == Role.OWNER


@rule
async def in_room(service: GgCore, caller: Identity, arguments: Arguments) -> bool:
    room = await service.db.find(Room.key(room_id=arguments["room_id"]))
    return room is not None and caller.id in room.members


class GgCore(Service):
    """Goals, groups, quests, chat and a feed."""

    design: ClassVar[Design] = design

    def __init__(self, db: AsyncDb) -> None:
        self.db = db

    async def role(self, group_id: str, user_id: str) -> Role | None:
        member = await self.db.find(GroupMember.key(group_id=group_id, user_id=user_id))
        return member.role if member is not None else None

    async def _once(
        self,
        caller: Identity,
        request_id: str | None,
        name: str,
        payload: Any,
        result: type[T],
        work: Callable[[], Awaitable[T]],
    ) -> T:
        """Do a mutation once for a request id of its caller."""
        if request_id is None:
            return await work()
        scoped = f"{caller.id}:{name}:{request_id}"
        return await self.db.once(scoped, work, result=result, payload=payload)

    # People

    @mutation("/users", name="createUser", allow=authenticated, status=201)
    async def create_user(
        self, input: NewUser, caller: Identity, request_id: str | None = None
    ) -> User:
        """Make your profile; nickname and email are yours alone."""

        async def work() -> User:
            return await self.db.create(User(id=caller.id, **dict(input)))

        return await self._once(caller, request_id, "createUser", input, User, work)

    @mutation("/users/{user_id}", name="updateUser", method="PATCH", allow=itself("user_id"))
    async def update_user(self, user_id: str, input: UserChange) -> User:
        """Change your profile."""
        ref = User.key(id=user_id)
        changes = input.model_dump(exclude_none=True)
        return await self.db.update(ref, **changes) if changes else await self.db.get(ref)

    @query("/users/{user_id}", allow=authenticated)
    async def user(self, user_id: str) -> User:
        """A profile."""
        return await self.db.get(User.key(id=user_id))

    @query("/nicknames/{nickname}", allow=authenticated)
    async def user_by_nickname(self, nickname: str) -> User:
        """A profile by nickname."""
        return _first(await user_by_nickname(self.db, nickname))

    @query("/emails/{email}", allow=admin)
    async def user_by_email(self, email: str) -> User:
        """A profile by email."""
        return _first(await user_by_email(self.db, email))

    @mutation("/users/{user_id}/following", name="followUser", allow=itself("user_id"), status=201)
    async def follow_user(
        self, user_id: str, followee_id: str, caller: Identity, request_id: str | None = None
    ) -> Follow:
        """Follow somebody; their recent activities come into your feed."""
        if followee_id == user_id:
            raise Invalid("followeeId", "you cannot follow yourself")

        async def work() -> Follow:
            await self.db.get(User.key(id=followee_id))
            if await self.db.find(Block.key(user_id=followee_id, blocked_id=user_id)) is not None:
                raise NotAllowed("They do not want to be followed by you.", code="BLOCKED")
            edge = Follow(follower_id=user_id, followee_id=followee_id)
            try:
                made: Follow = (await self.db.transact(*home.following(edge)))[0]
                return made
            except AlreadyExists:
                raise Conflict("You follow them already.", code="ALREADY_FOLLOWING") from None

        return await self._once(caller, request_id, "followUser", followee_id, Follow, work)

    @mutation(
        "/users/{user_id}/following/{followee_id}",
        name="unfollowUser",
        method="DELETE",
        allow=itself("user_id"),
    )
    async def unfollow_user(self, user_id: str, followee_id: str) -> None:
        """Stop following somebody; their activities leave your feed at once."""
        edge = await self.db.find(Follow.key(follower_id=user_id, followee_id=followee_id))
        if edge is None:
            raise Missing("You do not follow them.")
        await self.db.transact(*home.unfollowing(edge))

    @mutation("/users/{user_id}/blocks", name="blockUser", allow=itself("user_id"), status=201)
    async def block_user(self, user_id: str, blocked_id: str) -> Block:
        """Nobody you block follows you any more."""
        if blocked_id == user_id:
            raise Invalid("blockedId", "you cannot block yourself")
        block = await self.db.put(Block(user_id=user_id, blocked_id=blocked_id))
        edge = await self.db.find(Follow.key(follower_id=blocked_id, followee_id=user_id))
        if edge is not None:
            await self.db.transact(*home.unfollowing(edge))
        return block

    @query("/users/{user_id}/following", allow=authenticated)
    async def following(self, user_id: str, page: PageRequest) -> Page[Follow]:
        """Who somebody follows."""
        return await following.after(page.cursor)(self.db, user_id, limit=page.limit)

    @query("/users/{user_id}/followers", allow=authenticated)
    async def followers(self, user_id: str, page: PageRequest) -> Page[Follow]:
        """Who follows somebody."""
        return await followers.after(page.cursor)(self.db, user_id, limit=page.limit)

    @query("/users/{user_id}/counts", allow=authenticated)
    async def counts(self, user_id: str) -> Counts:
        """How many follow somebody, and how many they follow."""
        theirs = await followers_count(self.db, user_id)
        ours = await following_count(self.db, user_id)
        return Counts(followers=theirs.count if theirs else 0, following=ours.count if ours else 0)

    # The feed

    @mutation("/activities", name="postActivity", allow=authenticated, status=201)
    async def post_activity(
        self, input: NewActivity, caller: Identity, request_id: str | None = None
    ) -> Activity:
        """Tell your followers what you did."""

        async def work() -> Activity:
            await self.db.get(User.key(id=caller.id))
            activity = Activity(
                actor_id=caller.id,
                activity_id=new_ulid(),
                created_at=self.db.context.now(),
                **dict(input),
            )
            return await home.post(self.db, activity)

        return await self._once(caller, request_id, "postActivity", input, Activity, work)

    @mutation(
        "/users/{actor_id}/activities/{activity_id}",
        name="deleteActivity",
        method="DELETE",
        allow=itself("actor_id") | admin,
    )
    async def delete_activity(self, actor_id: str, activity_id: str, created_at: Timestamp) -> None:
        """Take an activity back; it leaves every feed at once."""
        key = Activity.key(actor_id=actor_id, activity_id=activity_id, created_at=created_at)
        activity = await self.db.get(key)
        await self.db.transact(*home.removing(activity))

    @query("/users/{user_id}/activities", allow=authenticated)
    async def activities(self, user_id: str, page: PageRequest) -> Page[Activity]:
        """What somebody did, newest first."""
        return await activities_of.after(page.cursor)(self.db, user_id, limit=page.limit)

    @query("/users/{user_id}/feed", allow=itself("user_id"))
    async def feed(self, user_id: str, page: PageRequest) -> Page[FeedItem]:
        """What those you follow did, newest first."""
        limit = min(page.limit, 100)
        return await home.page(self.db, user_id, limit=limit, cursor=page.cursor)

    @mutation("/promotions/{user_id}", name="promote", method="PUT", allow=admin)
    async def promote(
        self,
        user_id: str,
        fanout_enabled: bool,
        reason: Literal["followers", "volume", "manual"] = "manual",
    ) -> Promotion:
        """Decide whether somebody's activities are copied to their followers' feeds."""
        flag = Promotion(user_id=user_id, fanout_enabled=fanout_enabled, reason=reason)
        return await self.db.put(flag)

    # Groups

    @mutation("/groups", name="createGroup", allow=authenticated, status=201)
    async def create_group(
        self, input: NewGroup, caller: Identity, request_id: str | None = None
    ) -> Group:
        """Found a group; you own it."""

        async def work() -> Group:
            group = Group(group_id=new_ulid(), owner_id=caller.id, **dict(input))
            first = self._member(group, caller.id, Role.OWNER)
            await self.db.transact(create(group), create(first))
            return await self.db.get(group.ref())

        return await self._once(caller, request_id, "createGroup", input, Group, work)

    @query("/groups/{group_id}", allow=authenticated)
    async def group(self, group_id: str) -> Group:
        """A group."""
        return await self.db.get(Group.key(group_id=group_id))

    @query("/groups/{group_id}/members", allow=authenticated)
    async def group_members(self, group_id: str, page: PageRequest) -> Page[GroupMember]:
        """Who is in a group."""
        return await group_members.after(page.cursor)(self.db, group_id, limit=page.limit)

    @query("/users/{user_id}/groups", allow=itself("user_id"))
    async def groups(self, user_id: str, page: PageRequest) -> Page[GroupMember]:
        """The groups you are in, newest first."""
        return await groups_of_user.after(page.cursor)(self.db, user_id, limit=page.limit)

    @mutation("/groups/{group_id}/members", name="joinGroup", allow=authenticated, status=201)
    async def join_group(
        self, group_id: str, caller: Identity, request_id: str | None = None
    ) -> GroupMember:
        """Join a group."""

        async def work() -> GroupMember:
            group = await self.db.get(Group.key(group_id=group_id))
            joined = self._member(group, caller.id, Role.MEMBER)
            try:
                made: GroupMember = (await self.db.transact(create(joined), check(group.ref())))[0]
            except AlreadyExists:
                raise Conflict("You are a member already.", code="ALREADY_MEMBER") from None
            return made

        return await self._once(caller, request_id, "joinGroup", group_id, GroupMember, work)

    @mutation(
        "/groups/{group_id}/members/{user_id}",
        name="leaveGroup",
        method="DELETE",
        allow=itself("user_id") | group_admin,
    )
    async def leave_group(self, group_id: str, user_id: str) -> None:
        """Leave a group; its last owner cannot."""
        member = await self.db.get(GroupMember.key(group_id=group_id, user_id=user_id))
        guards = [self._another_owner(group_id)] if member.role == Role.OWNER else []
        await self._keep_an_owner(delete(member, must_exist=True), *guards)

    @mutation(
        "/groups/{group_id}/members/{user_id}/role",
        name="changeRole",
        method="PUT",
        allow=group_owner,
    )
    async def change_role(self, group_id: str, user_id: str, role: Role) -> GroupMember:
        """Give a member another role; an owner stays."""
        member = await self.db.get(GroupMember.key(group_id=group_id, user_id=user_id))
        losing = member.role == Role.OWNER and role != Role.OWNER
        guards = [self._another_owner(group_id)] if losing else []
        await self._keep_an_owner(update(member.ref(), role=role), *guards)
        return await self.db.get(member.ref())

    @mutation("/groups/{group_id}", name="deleteGroup", method="DELETE", allow=group_owner)
    async def delete_group(self, group_id: str) -> None:
        """Delete a group; its members are taken out of it."""
        await self.db.delete(Group.key(group_id=group_id), must_exist=True)

    # Goals and tasks

    @mutation("/goals", name="createGoal", allow=authenticated, status=201)
    async def create_goal(
        self, input: NewGoal, caller: Identity, request_id: str | None = None
    ) -> Goal:
        """Set yourself a goal."""

        async def work() -> Goal:
            goal = Goal(
                user_id=caller.id,
                goal_id=new_ulid(),
                created_at=self.db.context.now(),
                **dict(input),
            )
            return await self.db.create(goal)

        return await self._once(caller, request_id, "createGoal", input, Goal, work)

    @mutation("/goals/{goal_id}/completion", name="completeGoal", allow=authenticated)
    async def complete_goal(self, goal_id: str, caller: Identity) -> Goal:
        """A goal of yours is reached."""
        return await self.db.update(
            Goal.key(user_id=caller.id, goal_id=goal_id), status="completed"
        )

    @query("/users/{user_id}/goals", allow=itself("user_id"))
    async def goals(self, user_id: str, page: PageRequest) -> Page[Goal]:
        """Your goals, newest first."""
        return await goals_of_user.after(page.cursor)(self.db, user_id, limit=page.limit)

    @mutation("/goals/{goal_id}/tasks", name="createTask", allow=authenticated, status=201)
    async def create_task(
        self, goal_id: str, input: NewTask, caller: Identity, request_id: str | None = None
    ) -> Task:
        """Plan a step towards a goal of yours."""

        async def work() -> Task:
            task = Task(user_id=caller.id, goal_id=goal_id, task_id=new_ulid(), **dict(input))
            goal = check(Goal.key(user_id=caller.id, goal_id=goal_id))
            made: Task = (await self.db.transact(create(task), goal))[0]
            return made

        return await self._once(caller, request_id, "createTask", input, Task, work)

    @mutation(
        "/goals/{goal_id}/tasks/{task_id}/completion", name="completeTask", allow=authenticated
    )
    async def complete_task(self, goal_id: str, task_id: str, caller: Identity) -> Task:
        """A task of yours is done; quests count it once."""
        task = await self.db.get(Task.key(goal_id=goal_id, task_id=task_id))
        if task.user_id != caller.id:
            raise NotAllowed("This is somebody else's task.")
        if task.completed_at is not None:
            return task
        return await self.db.update(task, completed_at=self.db.context.now())

    @query("/goals/{goal_id}/tasks", allow=authenticated)
    async def tasks(self, goal_id: str, page: PageRequest, caller: Identity) -> Page[Task]:
        """The tasks of a goal of yours."""
        await self.db.get(Goal.key(user_id=caller.id, goal_id=goal_id))
        return await tasks_of_goal.after(page.cursor)(self.db, goal_id, limit=page.limit)

    @query("/users/{user_id}/tasks", allow=itself("user_id"))
    async def tasks_due(self, user_id: str, page: PageRequest) -> Page[Task]:
        """Your tasks by due date."""
        return await tasks_due.after(page.cursor)(self.db, user_id, limit=page.limit)

    # Quests

    @mutation("/quests", name="createQuest", allow=authenticated, status=201)
    async def create_quest(
        self, input: NewQuest, caller: Identity, request_id: str | None = None
    ) -> Quest:
        """Take on a quest; what it is linked to must be yours."""
        if input.kind == "quantitative" and input.target_count is None:
            raise Invalid("targetCount", "a quantitative quest needs one")
        if input.kind == "linked" and not (input.linked_goal_ids or input.linked_task_ids):
            raise Invalid("linkedGoalIds", "a linked quest needs goals or tasks")

        async def work() -> Quest:
            await self._check_owned(input, caller.id)
            values = input.model_dump(exclude={"linked_task_ids"})
            quest = Quest(
                user_id=caller.id,
                id=new_ulid(),
                created_at=self.db.context.now(),
                linked_task_ids=set(input.linked_task_ids),
                **values,
            )
            return await self.db.create(quest)

        return await self._once(caller, request_id, "createQuest", input, Quest, work)

    @mutation("/quests/{quest_id}/cancellation", name="cancelQuest", allow=authenticated)
    async def cancel_quest(self, quest_id: str, caller: Identity) -> Quest:
        """Give a quest up."""
        quest = await self.db.get(Quest.key(user_id=caller.id, id=quest_id))
        if quest.status == "completed":
            raise Conflict("It is completed already.", code="COMPLETED")
        return await self.db.update(quest, status="cancelled")

    @mutation(
        "/users/{user_id}/quests/{quest_id}", name="deleteQuest", method="DELETE", allow=admin
    )
    async def delete_quest(self, user_id: str, quest_id: str) -> None:
        """Delete a quest."""
        await self.db.delete(Quest.key(user_id=user_id, id=quest_id), must_exist=True)

    @query("/users/{user_id}/quests", allow=itself("user_id"))
    async def quests(self, user_id: str, page: PageRequest) -> Page[Quest]:
        """Your quests, newest first."""
        return await quests_of_user.after(page.cursor)(self.db, user_id, limit=page.limit)

    @query("/users/{user_id}/quests/{quest_id}", allow=itself("user_id"))
    async def quest(self, user_id: str, quest_id: str) -> Quest:
        """A quest of yours."""
        return await self.db.get(Quest.key(user_id=user_id, id=quest_id))

    # Chat

    @mutation("/rooms", name="createRoom", allow=authenticated, status=201)
    async def create_room(
        self, input: NewRoom, caller: Identity, request_id: str | None = None
    ) -> Room:
        """Open a room with others."""

        async def work() -> Room:
            members = input.members | {caller.id}
            if input.scope == "dm" and len(members) != 2:
                raise Invalid("members", "a direct conversation has two people")
            if len(members) > MOST_MEMBERS_OF_A_ROOM:
                raise Invalid("members", f"a room has at most {MOST_MEMBERS_OF_A_ROOM}")
            return await self.db.create(
                Room(room_id=new_ulid(), scope=input.scope, members=members)
            )

        return await self._once(caller, request_id, "createRoom", input, Room, work)

    @query("/users/{user_id}/rooms", allow=itself("user_id"))
    async def rooms(self, user_id: str, page: PageRequest) -> Page[UserRoom]:
        """Your rooms."""
        return await rooms_of_user.after(page.cursor)(self.db, user_id, limit=page.limit)

    @mutation("/rooms/{room_id}/messages", name="sendMessage", allow=in_room, status=201)
    async def send_message(
        self,
        room_id: str,
        text: Annotated[str, Field(min_length=1, max_length=4000)],
        caller: Identity,
        request_id: str | None = None,
    ) -> Message:
        """Write something in a room."""

        async def work() -> Message:
            message = Message(
                room_id=room_id,
                message_id=new_ulid(),
                user_id=caller.id,
                text=text,
                created_at=self.db.context.now(),
            )
            return await self.db.create(message)

        payload = {"room": room_id, "text": text}
        return await self._once(caller, request_id, "sendMessage", payload, Message, work)

    @query("/rooms/{room_id}/messages", allow=in_room)
    async def messages(self, room_id: str, page: PageRequest) -> Page[Message]:
        """A room's messages, newest first."""
        return await chat_history.after(page.cursor)(self.db, room_id, limit=page.limit)

    def _member(self, group: Group, user_id: str, role: Role) -> GroupMember:
        return GroupMember(
            group_id=group.group_id,
            user_id=user_id,
            role=role,
            group_name=group.name,
            joined_at=self.db.context.now(),
        )

    def _another_owner(self, group_id: str) -> Any:
        return check(Group.key(group_id=group_id), where=lambda g: g.owners > 1)

    async def _keep_an_owner(self, *intents: Any) -> None:
        try:
            await self.db.transact(*intents)
        except ConditionFailed:
            raise Conflict("The last owner stays.", code="LAST_OWNER") from None

    async def _check_owned(self, input: NewQuest, user_id: str) -> None:
        goals = sorted(input.linked_goal_ids)
        found = await self.db.get_many([Goal.key(user_id=user_id, goal_id=g) for g in goals])
        missing = [goal for goal, one in zip(goals, found, strict=True) if one is None]
        if missing:
            raise Invalid("linkedGoalIds", f"you have no goal {', '.join(missing)}")
        pairs = sorted(input.linked_task_ids.items())
        tasks = await self.db.get_many([Task.key(goal_id=g, task_id=t) for t, g in pairs])
        strange = [
            task
            for (task, _), one in zip(pairs, tasks, strict=True)
            if one is None or one.user_id != user_id
        ]
        if strange:
            raise Invalid("linkedTaskIds", f"you have no task {', '.join(strange)}")


def service(db: AsyncDb) -> GgCore:
    return GgCore(db)


def _first(page: Page[User]) -> User:
    if not page.items:
        raise Missing("There is no such user.")
    return page.items[0]
