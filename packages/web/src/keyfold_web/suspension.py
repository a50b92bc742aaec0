"""Suspensions: a user may read but not write for a while, and learns why and until when.

A design declares one more entity beside those of `keyfold_web.oversight`:

    class Suspension(SuspensionFields, Entity, table=table):
        key = Key("USER#{user_id}", "SUSPENSION")

    class Inviter(Suspensions, Service):
        suspension = Suspension
        people_kind = "user"

A service with its own reports uses `Suspending` instead, with a trail.
"""

from __future__ import annotations

from abc import abstractmethod
from datetime import timedelta
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, Field

from keyfold_web.identity import Identity
from keyfold_web.names import Payload
from keyfold_web.operation import mutation, query
from keyfold_web.oversight import Accountable, Grounds, Oversight, moderator
from keyfold_web.problems import Missing, NotAllowed
from keyfold_web.rules import itself
from keyfold.design import Id, Timestamp, Ttl
from keyfold.design.address import Ref
from keyfold.errors import DeclarationError, NotFound
from keyfold.runtime import check, delete, put
from keyfold.runtime.read_along import judge_first

Hours = Annotated[int, Field(ge=1, le=24 * 365)]


class SuspensionFields(BaseModel):
    """A user who may not write until a given time; then time to live removes it."""

    user_id: Id
    until: Annotated[Timestamp, Ttl()]
    reason: Grounds
    by: Id
    since: Timestamp


class Suspended(Payload):
    """Why a user may not write, and until when."""

    user_id: str
    until: Timestamp
    reason: str


class Suspending(Accountable):
    """Lets moderators suspend a user from writing."""

    suspension: ClassVar[Any]
    while_suspended: ClassVar[frozenset[str]] = frozenset(
        {"deletePersonalData", "readNotifications"}
    )
    """Mutations that a suspended user may call: to leave, and to read notifications."""

    @abstractmethod
    def person_ref(self, user_id: str) -> Ref[Any]:
        """The key of a user's item, which must exist."""

    async def finish_suspension(self, user_id: str) -> None:
        """Further work of a service once a user is suspended; a repeated decision repeats it."""

    def suspension_of(self, user_id: str, hours: int, reason: str, caller: Identity) -> Any:
        """A suspension that begins now; the caller stores it."""
        now = self.db.context.now()
        until = now.replace(microsecond=0) + timedelta(hours=hours)
        return self.suspension(user_id=user_id, until=until, reason=reason, by=caller.id, since=now)

    @mutation(
        "/users/{user_id}/suspension",
        method="PUT",
        allow=moderator,
        example={"hours": 24, "reason": "Spam"},
    )
    async def suspend_user(
        self, user_id: str, hours: Hours, reason: Grounds, caller: Identity
    ) -> Suspended:
        """Suspend a user from writing for a while; they learn why, and until when."""
        found = self.suspension_of(user_id, hours, reason, caller)
        try:
            await self.db.transact(
                put(found),
                check(self.person_ref(user_id)),
                self.trail.note(self.db, caller, "suspend", f"user {user_id}", reason),
            )
        except NotFound:
            raise Missing.of("user", user_id) from None
        await self.finish_suspension(user_id)
        return _answer(found)

    @mutation("/users/{user_id}/suspension", method="DELETE", allow=moderator)
    async def restore_user(self, user_id: str, reason: Grounds, caller: Identity) -> None:
        """End a suspension early."""
        try:
            await self.db.transact(
                delete(self.suspension.key(user_id=user_id), must_exist=True),
                self.trail.note(self.db, caller, "restore", f"user {user_id}", reason),
            )
        except NotFound:
            raise Missing(f'User "{user_id}" is not suspended.') from None

    @query("/users/{user_id}/suspension", allow=itself("user_id") | moderator)
    async def suspended(self, user_id: str) -> Suspended | None:
        """Whether a user is suspended, why, and until when."""
        found = await self.db.find(self.suspension.key(user_id=user_id))
        return None if found is None else _answer(found)

    async def admit_write(self, caller: Identity, operation: str) -> None:
        """Refuse a mutation of a suspended user; administrators cannot be suspended."""
        if operation in self.while_suspended or caller.is_admin:
            return
        # Read with the first read of the operation, most often that of the caller's profile.
        await judge_first(self.db, self.suspension.key(user_id=caller.id), _refuse)


class Suspensions(Suspending, Oversight):
    """Reports, decisions and suspensions in one service."""

    people_kind: ClassVar[str] = "user"
    """The subject kind of users."""

    def __init_subclass__(cls, **given: Any) -> None:
        if cls.subjects and cls.people_kind not in cls.subjects:
            raise DeclarationError(
                "O18", f"`subjects` has no {cls.people_kind!r}.", place=cls.__qualname__
            )
        super().__init_subclass__(**given)

    def person_ref(self, user_id: str) -> Ref[Any]:
        return self.subjects[self.people_kind].ref(user_id)


def _refuse(found: Any | None) -> None:
    if found is not None:
        until = found.until.isoformat().replace("+00:00", "Z")
        raise NotAllowed(f"You may not write until {until}: {found.reason}", code="SUSPENDED")


def _answer(found: Any) -> Suspended:
    return Suspended(user_id=found.user_id, until=found.until, reason=found.reason)
