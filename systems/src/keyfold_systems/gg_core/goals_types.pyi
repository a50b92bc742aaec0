"""Written by `keyfold types`; do not edit."""
# pyright: reportUnnecessaryTypeIgnoreComment=false
# pyright: reportIncompatibleVariableOverride=false
# ruff: noqa
# fmt: off

import collections.abc
import datetime
import keyfold.maintain.cascade
import typing
from typing import ClassVar, Self, TypeVar, overload
from keyfold.design.address import KeyOf, Ref
from keyfold.design.entity import Entity
from keyfold.design.keys import Key
from keyfold.design.path_change import PathChange
from keyfold.design.placement import On
from keyfold.design.query import Query
from keyfold.runtime.changes import Clear, Given, GivenNumber, GivenSet

import keyfold_systems.gg_core.goals as of

E = TypeVar("E", bound=Entity)

class ByGoalId(Query[E]):
    def after(self, *, goal_id: str | None) -> Self: ...
    def since(self, *, goal_id: str | None) -> Self: ...
    def before(self, *, goal_id: str | None) -> Self: ...
    def until(self, *, goal_id: str | None) -> Self: ...
    def begins_with(self, *, goal_id: str | None) -> Self: ...

class ByCreatedAt(Query[E]):
    def after(self, *, created_at: datetime.datetime | None) -> Self: ...
    def since(self, *, created_at: datetime.datetime | None) -> Self: ...
    def before(self, *, created_at: datetime.datetime | None) -> Self: ...
    def until(self, *, created_at: datetime.datetime | None) -> Self: ...

class ByTaskId(Query[E]):
    def after(self, *, task_id: str | None) -> Self: ...
    def since(self, *, task_id: str | None) -> Self: ...
    def before(self, *, task_id: str | None) -> Self: ...
    def until(self, *, task_id: str | None) -> Self: ...
    def begins_with(self, *, task_id: str | None) -> Self: ...

class ByDueAt(Query[E]):
    def after(self, *, due_at: datetime.datetime | None) -> Self: ...
    def since(self, *, due_at: datetime.datetime | None) -> Self: ...
    def before(self, *, due_at: datetime.datetime | None) -> Self: ...
    def until(self, *, due_at: datetime.datetime | None) -> Self: ...

class ById(Query[E]):
    def after(self, *, id: str | None) -> Self: ...
    def since(self, *, id: str | None) -> Self: ...
    def before(self, *, id: str | None) -> Self: ...
    def until(self, *, id: str | None) -> Self: ...
    def begins_with(self, *, id: str | None) -> Self: ...

class ByQuestId(Query[E]):
    def after(self, *, quest_id: str | None) -> Self: ...
    def since(self, *, quest_id: str | None) -> Self: ...
    def before(self, *, quest_id: str | None) -> Self: ...
    def until(self, *, quest_id: str | None) -> Self: ...
    def begins_with(self, *, quest_id: str | None) -> Self: ...

class GoalKey(KeyOf[of.Goal]):
    def __call__(self, *, user_id: str, goal_id: str) -> Ref[of.Goal]: ...
    @overload
    def query(self, *, user_id: str) -> ByGoalId[of.Goal]: ...
    @overload
    def query(self, *, user_id: str, goal_id: str) -> Query[of.Goal]: ...

class GoalByUser(KeyOf[of.Goal]):
    @overload
    def query(self, *, user_id: str) -> ByCreatedAt[of.Goal]: ...
    @overload
    def query(self, *, user_id: str, created_at: datetime.datetime) -> ByGoalId[of.Goal]: ...
    @overload
    def query(self, *, user_id: str, created_at: datetime.datetime, goal_id: str) -> Query[of.Goal]: ...

class Goal(Entity):
    key: ClassVar[Key[GoalKey]]
    by_user: ClassVar[On[GoalByUser]]
    tasks: ClassVar[keyfold.maintain.cascade.Cascade]
    updates: ClassVar[keyfold.maintain.cascade.Cascade]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Goal],
        where: collections.abc.Callable[[of.Goal], object] | None = ...,
        title: Given[str] = ...,
        description: Given[str] = ...,
        status: Given[typing.Literal['active', 'completed']] = ...,
        tags: GivenSet[str] = ...,
        completed_at: Given[datetime.datetime] | Clear | None = ...,
        created_at: Given[datetime.datetime] = ...,
    ) -> of.Goal: ...
    def __moves__(
        self,
        *,
        user_id: str = ...,
        goal_id: str = ...,
        title: str = ...,
        description: str = ...,
        status: typing.Literal['active', 'completed'] = ...,
        tags: set[str] = ...,
        completed_at: datetime.datetime | None = ...,
        created_at: datetime.datetime = ...,
    ) -> of.Goal: ...

class TaskKey(KeyOf[of.Task]):
    def __call__(self, *, goal_id: str, task_id: str) -> Ref[of.Task]: ...
    @overload
    def query(self, *, goal_id: str) -> ByTaskId[of.Task]: ...
    @overload
    def query(self, *, goal_id: str, task_id: str) -> Query[of.Task]: ...

class TaskByDue(KeyOf[of.Task]):
    @overload
    def query(self, *, user_id: str) -> ByDueAt[of.Task]: ...
    @overload
    def query(self, *, user_id: str, due_at: datetime.datetime) -> ByTaskId[of.Task]: ...
    @overload
    def query(self, *, user_id: str, due_at: datetime.datetime, task_id: str) -> Query[of.Task]: ...

class Task(Entity):
    key: ClassVar[Key[TaskKey]]
    by_due: ClassVar[On[TaskByDue]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Task],
        where: collections.abc.Callable[[of.Task], object] | None = ...,
        user_id: Given[str] = ...,
        title: Given[str] = ...,
        due_at: Given[datetime.datetime] | Clear | None = ...,
        completed_at: Given[datetime.datetime] | Clear | None = ...,
        created_at: Given[datetime.datetime] | Clear | None = ...,
    ) -> of.Task: ...
    def __moves__(
        self,
        *,
        user_id: str = ...,
        goal_id: str = ...,
        task_id: str = ...,
        title: str = ...,
        due_at: datetime.datetime | None = ...,
        completed_at: datetime.datetime | None = ...,
        created_at: datetime.datetime | None = ...,
    ) -> of.Task: ...

class QuestKey(KeyOf[of.Quest]):
    def __call__(self, *, user_id: str, id: str) -> Ref[of.Quest]: ...
    @overload
    def query(self, *, user_id: str) -> ById[of.Quest]: ...
    @overload
    def query(self, *, user_id: str, id: str) -> Query[of.Quest]: ...

class QuestByUser(KeyOf[of.Quest]):
    @overload
    def query(self, *, user_id: str) -> ByCreatedAt[of.Quest]: ...
    @overload
    def query(self, *, user_id: str, created_at: datetime.datetime) -> ById[of.Quest]: ...
    @overload
    def query(self, *, user_id: str, created_at: datetime.datetime, id: str) -> Query[of.Quest]: ...

class Quest(Entity):
    key: ClassVar[Key[QuestKey]]
    by_user: ClassVar[On[QuestByUser]]
    steps: ClassVar[keyfold.maintain.cascade.Cascade]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Quest],
        where: collections.abc.Callable[[of.Quest], object] | None = ...,
        title: Given[str] = ...,
        description: Given[str] = ...,
        difficulty: Given[typing.Literal['easy', 'medium', 'hard']] = ...,
        reward_xp: GivenNumber[int] = ...,
        status: Given[typing.Literal['active', 'completed', 'cancelled']] = ...,
        tags: GivenSet[str] = ...,
        deadline: Given[datetime.datetime] | Clear | None = ...,
        kind: Given[typing.Literal['linked', 'quantitative']] = ...,
        linked_goal_ids: GivenSet[str] = ...,
        linked_task_ids: GivenSet[str] = ...,
        target_count: GivenNumber[int] | Clear | None = ...,
        count_scope: Given[typing.Literal['any', 'linked']] = ...,
        start_at: Given[datetime.datetime] | Clear | None = ...,
        period_seconds: GivenNumber[int] | Clear | None = ...,
        lost_link: Given[str] | Clear | None = ...,
        created_at: Given[datetime.datetime] = ...,
        updated_at: Given[datetime.datetime] | Clear | None = ...,
    ) -> of.Quest: ...
    def __moves__(
        self,
        *,
        user_id: str = ...,
        id: str = ...,
        title: str = ...,
        description: str = ...,
        difficulty: typing.Literal['easy', 'medium', 'hard'] = ...,
        reward_xp: int = ...,
        status: typing.Literal['active', 'completed', 'cancelled'] = ...,
        tags: set[str] = ...,
        deadline: datetime.datetime | None = ...,
        kind: typing.Literal['linked', 'quantitative'] = ...,
        linked_goal_ids: set[str] = ...,
        linked_task_ids: set[str] = ...,
        target_count: int | None = ...,
        count_scope: typing.Literal['any', 'linked'] = ...,
        start_at: datetime.datetime | None = ...,
        period_seconds: int | None = ...,
        lost_link: str | None = ...,
        created_at: datetime.datetime = ...,
        updated_at: datetime.datetime | None = ...,
    ) -> of.Quest: ...

class QuestStepKey(KeyOf[of.QuestStep]):
    def __call__(self, *, quest_id: str, task_id: str) -> Ref[of.QuestStep]: ...
    @overload
    def query(self, *, quest_id: str) -> ByTaskId[of.QuestStep]: ...
    @overload
    def query(self, *, quest_id: str, task_id: str) -> Query[of.QuestStep]: ...

class QuestStep(Entity):
    key: ClassVar[Key[QuestStepKey]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.QuestStep],
        where: collections.abc.Callable[[of.QuestStep], object] | None = ...,
        user_id: Given[str] = ...,
        at: Given[datetime.datetime] = ...,
    ) -> of.QuestStep: ...
    def __moves__(
        self,
        *,
        quest_id: str = ...,
        user_id: str = ...,
        task_id: str = ...,
        at: datetime.datetime = ...,
    ) -> of.QuestStep: ...

class AwardKey(KeyOf[of.Award]):
    def __call__(self, *, user_id: str, quest_id: str) -> Ref[of.Award]: ...
    @overload
    def query(self, *, user_id: str) -> ByQuestId[of.Award]: ...
    @overload
    def query(self, *, user_id: str, quest_id: str) -> Query[of.Award]: ...

class Award(Entity):
    key: ClassVar[Key[AwardKey]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Award],
        where: collections.abc.Callable[[of.Award], object] | None = ...,
        xp: GivenNumber[int] = ...,
        at: Given[datetime.datetime] | Clear | None = ...,
    ) -> of.Award: ...
    def __moves__(
        self,
        *,
        user_id: str = ...,
        quest_id: str = ...,
        xp: int = ...,
        at: datetime.datetime | None = ...,
    ) -> of.Award: ...
