"""Reports, what is decided about them, and the trail that it leaves."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import chain
from typing import Any, ClassVar, Final

from keyfold import Page, delete, missing, new_ulid, put, update
from keyfold_web import (
    Conflict,
    Identity,
    Invalid,
    PageRequest,
    Suspending,
    Trail,
    moderator,
    mutation,
    query,
)
from keyfold.errors import AlreadyExists, ConditionFailed, NotFound
from keyfold_systems.gg_core.entities import Activity, Group, User, home
from keyfold_systems.gg_core.notices import Notice
from keyfold_systems.gg_core.operations.access import Part, in_room, registered, trail
from keyfold_systems.gg_core.oversight import (
    LOCKED_FOR,
    SUSPENDED_HOURS,
    Decision,
    Lock,
    Report,
    ReportStatus,
    SubjectType,
    Suspension,
)
from keyfold_systems.gg_core.patterns import reports_by_status
from keyfold_systems.gg_core.payloads import NewReport, Note, ReportView
from keyfold_systems.gg_core.rooms import Message

ONE: Final = "/reports/{reporter_id}/{subject_type}/{subject_id}"
EXCERPT: Final = 200


class Moderation(Suspending, Part):
    """Who keeps order, and how."""

    trail: ClassVar[Trail] = trail
    suspension = Suspension
    while_suspended = Suspending.while_suspended | {"deleteUser"}

    def person_ref(self, user_id: str) -> Any:
        return User.key(id=user_id)

    async def names_of(self, ids: Collection[str]) -> Mapping[str, str]:
        return {id: user.full_name for id, user in (await self.users(ids)).items()}

    @mutation(
        "/reports",
        name="report",
        allow=registered,
        status=201,
        example={"input": {"subjectType": "user", "subjectId": "userId", "reason": "Spam"}},
    )
    async def report(self, input: NewReport, caller: Identity) -> Report:
        """Tell the moderators of something that should not be here; once for each thing."""
        report = Report(
            reporter_id=caller.id,
            subject_type=input.subject_type,
            subject_id=input.subject_id,
            place_id=input.place_id,
            subject_created_at=input.created_at,
            reason=input.reason,
            created_at=self.db.context.now(),
        )
        subject: Any = await self.db.find(_subject(report))
        if subject is None or not await self._is_seen(subject, caller):
            kind, id = input.subject_type, input.subject_id
            raise Invalid("subjectId", f'{kind} "{id}" does not exist')
        owner, _ = _quoted(subject)
        if owner == caller.id:
            raise Invalid("subjectId", "this is your own")
        if not isinstance(subject, Group):
            report = report.model_copy(update={"owner_id": owner})
        try:
            return await self.db.create(report)
        except AlreadyExists:
            raise Conflict("You have reported it already.", code="ALREADY_REPORTED") from None

    @query("/reports", allow=moderator)
    async def reports(self, page: PageRequest, status: ReportStatus = "open") -> Page[ReportView]:
        """Reports, oldest first, with what they are about."""
        found = await reports_by_status.after(page.cursor)(self.db, status, limit=page.limit)
        about: list[Any] = await self.db.get_many([_subject(one) for one in found])
        quoted = [_quoted(one) for one in about]
        people = [(one.reporter_id, one.handled_by) for one in found]
        ids = {*chain(*people), *(owner for owner, _ in quoted)}
        names = await self.names_of({one for one in ids if one is not None})
        rows = [
            ReportView(
                **one.model_dump(exclude={"owner_id"}),
                owner_id=owner or one.owner_id,
                excerpt=words[:EXCERPT],
                owner_name=names.get(owner or ""),
                reporter_name=names.get(one.reporter_id),
                handled_by_name=names.get(one.handled_by or ""),
            )
            for one, (owner, words) in zip(found, quoted, strict=True)
        ]
        return Page(rows, found.cursor)

    @mutation(f"{ONE}/lock", name="claimReport", method="PUT", allow=moderator)
    async def claim_report(
        self, reporter_id: str, subject_type: SubjectType, subject_id: str, caller: Identity
    ) -> Lock:
        """Look into a report alone for a quarter of an hour."""
        report = await self.db.get(
            Report.key(reporter_id=reporter_id, subject_type=subject_type, subject_id=subject_id)
        )
        return await self._hold(report, caller)

    @mutation(f"{ONE}/decision", name="handleReport", allow=moderator)
    async def handle_report(
        self,
        reporter_id: str,
        subject_type: SubjectType,
        subject_id: str,
        decision: Decision,
        caller: Identity,
        note: Note = "",
    ) -> Report:
        """Dismiss a report, or remove what it is about: a user is suspended, all else deleted."""
        report = await self.db.get(
            Report.key(reporter_id=reporter_id, subject_type=subject_type, subject_id=subject_id)
        )
        await self._hold(report, caller)
        handled = update(
            report.ref(),
            status=decision,
            handled_by=caller.id,
            handled_at=self.db.context.now(),
            note=note,
            where=lambda r: r.status == "open",
        )
        subject = f"{report.subject_type} {report.subject_id}"
        entry = self.audited(caller, f"report {decision}", subject, note)
        gone = await self._removal(report, caller, note) if decision == "removed" else []
        try:
            await self.db.transact(handled, entry, *gone, delete(Lock.key(name=_lock(report))))
        except (ConditionFailed, NotFound):
            raise Conflict("It was handled just now.", code="HANDLED") from None
        return await self.db.get(report.ref())

    async def _is_seen(self, subject: Any, caller: Identity) -> bool:
        """Whether somebody sees what they report."""
        match subject:
            case Message():
                return await in_room.allows(self, caller, {"room_id": subject.room_id})
            case Activity():
                return await self.sees(subject.actor_id, caller)
        return True

    async def _hold(self, report: Report, caller: Identity) -> Lock:
        """The lock on a report, unless another moderator holds it; one that is over is nobody's."""
        if report.status != "open":
            raise Conflict("It is handled already.", code="HANDLED")
        now = self.db.context.now()
        lock = Lock(name=_lock(report), holder_id=caller.id, expires_at=now + LOCKED_FOR)
        try:
            return await self.db.put(
                lock,
                where=lambda held: (
                    missing(held.holder_id)
                    | (held.holder_id == caller.id)
                    | (held.expires_at <= now)
                ),
            )
        except ConditionFailed:
            raise Conflict("Another moderator looks into it.", code="LOCKED") from None

    async def _removal(self, report: Report, caller: Identity, note: str) -> list[Any]:
        """The writes that take away what a report is about; none where it is gone already."""
        subject: Any = await self.db.find(_subject(report))
        if subject is None:
            return []
        reason = (note or report.reason)[:500]
        if isinstance(subject, User):
            return [put(self.suspension_of(subject.id, SUSPENDED_HOURS, reason, caller))]
        gone = home.removing(subject) if isinstance(subject, Activity) else [delete(subject.ref())]
        return [*gone, *await self._removal_notices(subject, reason)]

    async def _removal_notices(self, subject: Any, reason: str) -> list[Any]:
        """The write that tells whose it was."""
        owner_id, title = _quoted(subject)
        owner = (await self.users([owner_id])).get(owner_id or "")
        if owner is None or owner.leaving:
            return []
        notice = Notice(
            user_id=owner.id,
            notice_id=new_ulid(),
            kind="removed",
            text=f"{title[:EXCERPT]}: {reason}",
            created_at=self.db.context.now(),
        )
        return [put(notice)]


def _subject(report: Report) -> Any:
    """Where the thing is that a report is about."""
    if report.subject_type == "user":
        return User.key(id=report.subject_id)
    if report.subject_type == "group":
        return Group.key(group_id=report.subject_id)
    if report.place_id is None or report.subject_created_at is None:
        raise Invalid("placeId", f"say where the {report.subject_type} is, and when it was made")
    if report.subject_type == "message":
        return Message.key(
            room_id=report.place_id,
            message_id=report.subject_id,
            created_at=report.subject_created_at,
        )
    return Activity.key(
        actor_id=report.place_id,
        activity_id=report.subject_id,
        created_at=report.subject_created_at,
    )


def _quoted(subject: Any) -> tuple[str | None, str]:
    """Whose it is, and its words; nobody's where it is gone."""
    match subject:
        case User():
            return subject.id, subject.full_name
        case Group():
            return subject.owner_id, subject.name
        case Message():
            return subject.user_id, subject.text
        case Activity():
            return subject.author_id, subject.preview_text
    return None, ""


def _lock(report: Report) -> str:
    return f"report {report.subject_type} {report.subject_id} by {report.reporter_id}"
