"""Order among people: reports, what is decided about them, and the trail that it leaves.

A design declares two entities with these fields in a table of its own:

    class Report(ReportFields, Entity, table=table):
        key = Key("REPORTS", "REPORT#{kind}#{subject_id}#{reporter_id}")

    class AuditEntry(AuditFields, Entity, table=table):
        key = Key("AUDIT#{at:%Y-%m}", "AT#{at:iso}#{entry_id}")

    trail = Trail.of(design, Report, AuditEntry)

A service says what can be reported, and how it goes:

    class Inviter(Oversight, Service):
        trail = trail
        subjects = {
            "hangout": Subject(Hangout, ["hangout_id"], allow=guest, owner="host_id", shown="title")
        }
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import BaseModel, Field

from keyfold_web.identity import Identity
from keyfold_web.names import Payload
from keyfold_web.operation import mutation, query
from keyfold_web.page_request import PageRequest
from keyfold_web.problems import Conflict, Invalid, Missing, NotAllowed
from keyfold_web.rules import Arguments, Rule, authenticated, rule
from keyfold.design import Id, Page, Query, Timestamp, new_ulid
from keyfold.design.address import Ref
from keyfold.errors import ConditionFailed, NotFound
from keyfold.runtime import AsyncDb, Design, Intent, create, delete
from keyfold.streams import Delivery

MODERATORS: Final = "moderator"
EXCERPT: Final = 200
BETWEEN: Final = "/"
"""Separates the parts of a subject's id if its key has several."""

Grounds = Annotated[str, Field(min_length=1, max_length=500)]
Decision = Literal["dismiss", "remove"]


class ReportFields(BaseModel):
    """A report: a user asks moderators to look at something; it waits for a decision."""

    kind: Id
    subject_id: Annotated[str, Field(min_length=1, max_length=300, pattern=r"^[^#]+$")]
    reporter_id: Id
    owner_id: Id | None = None
    """The owner of the subject."""
    reason: Grounds
    excerpt: Annotated[str, Field(max_length=EXCERPT)] = ""
    """What it looked like at the time."""
    created_at: Timestamp


class AuditFields(BaseModel):
    """A decision, its author and its reason; it is never changed."""

    entry_id: Id
    at: Timestamp
    by: Id
    action: str
    subject: str
    note: str = ""


class Reported(ReportFields, Payload):
    """A report, as moderators see it."""

    reporter_name: str | None = None
    owner_name: str | None = None


class Decided(AuditFields, Payload):
    """A decision, as the audit trail shows it."""

    by_name: str | None = None
    excerpt: str = ""
    """The words of what was removed, if the design keeps them."""


@rule
def moderator(_: object, caller: Identity, __: Arguments) -> bool:
    """A moderator or administrator, by the groups of their token."""
    return caller.is_admin or MODERATORS in caller.groups


@dataclass(frozen=True)
class Trail:
    """The two entities of a design, and how they are read."""

    report: Any
    entry: Any
    open_reports: Any
    audit_of_month: Any

    @classmethod
    def of(cls, design: Design, report: Any, entry: Any) -> Trail:
        """Declare their access patterns and domain events."""

        def open_reports(limit: int = 50) -> Query[Any]:
            """Reports that wait for a decision, by subject."""
            read: Query[Any] = report.key.query().limit(limit)
            return read

        def audit_of_month(month: datetime, limit: int = 50) -> Query[Any]:
            """The decisions of a month, newest first."""
            read: Query[Any] = entry.key.query(at=month).descending().limit(limit)
            return read

        def announce_report(_: None, new: Any, delivery: Delivery) -> None:
            """Emits ContentReported; the report's own key would tell who reported."""
            payload = {"kind": new.kind, "subjectId": new.subject_id}
            delivery.emit("ContentReported", payload, key=f"{new.kind} {new.subject_id}")

        def announce_decision(_: None, new: Any, delivery: Delivery) -> None:
            """Emits ModeratorDecided."""
            payload = {"action": new.action, "subject": new.subject, "by": new.by}
            delivery.emit("ModeratorDecided", payload)

        design.on(report, "insert")(announce_report)
        design.on(entry, "insert")(announce_decision)
        pattern = design.pattern(requests=1)
        return cls(report, entry, pattern(open_reports), pattern(audit_of_month))

    def note(
        self, db: AsyncDb, caller: Identity, action: str, subject: str, note: str = ""
    ) -> Intent:
        """The entry of a decision, for the decision's own transaction."""
        now = db.context.now()
        values = {"action": action, "subject": subject, "note": note, "by": caller.id, "at": now}
        return create(self.entry(entry_id=new_ulid(), **values))

    def reported_by(self, user_id: str) -> Query[Any]:
        """The open reports of a user; there are never many."""
        wanted: Query[Any] = self.report.key.query().where(lambda r: r.reporter_id == user_id)
        return wanted

    def reports_about(self, user_id: str) -> Query[Any]:
        """The open reports about what a user owns, to delete with them; not for their eyes."""
        wanted: Query[Any] = self.report.key.query().where(lambda r: r.owner_id == user_id)
        return wanted


def _deleted(item: Any) -> list[Intent]:
    return [delete(item.ref(), must_exist=True)]


@dataclass(frozen=True)
class Subject:
    """One kind of thing that can be reported."""

    entity: Any
    fields: Sequence[str]
    """The fields of its key; an id joins their values with a slash."""
    allow: Rule
    """Who can see it, and so report it; the rule gets the fields as arguments."""
    owner: str
    """The field with its owner."""
    shown: str
    """The field that a report quotes."""
    remove: Callable[[Any], list[Intent]] = _deleted
    """The writes that remove it, or begin to; they share a transaction with the entry."""
    finish: Callable[[Any, Any, Identity], Awaitable[None]] | None = None
    """Further work: `finish(service, item, caller)`; a repeated decision repeats it."""
    by_admin: bool = False
    """Whether only an administrator may remove it."""

    def place(self, subject_id: str) -> dict[str, str]:
        """The fields of an id."""
        parts = subject_id.split(BETWEEN)
        if len(parts) != len(self.fields) or not all(parts):
            form = BETWEEN.join(f"<{name}>" for name in self.fields)
            raise Invalid("subjectId", f"must have the form {form}")
        return dict(zip(self.fields, parts, strict=True))

    def ref(self, subject_id: str) -> Ref[Any]:
        found: Ref[Any] = self.entity.key(**self.place(subject_id))
        return found


@dataclass(frozen=True)
class Removed:
    """Something that a moderator removes."""

    kind: str
    item: Any
    owner_id: str
    title: str
    reason: str


class Accountable:
    """A service whose decisions leave a trail."""

    trail: ClassVar[Trail]
    db: AsyncDb

    @query("/audit", allow=moderator)
    async def audit(self, page: PageRequest, month: Timestamp | None = None) -> Page[Decided]:
        """The decisions of a month, by default the current one; newest first."""
        read = self.trail.audit_of_month.after(page.cursor)
        at = month or self.db.context.now()
        found = await read(self.db, at, limit=page.limit)
        names = await self.names_of({one.by for one in found})
        rows = [Decided(**dict(one), by_name=names.get(one.by)) for one in found]
        return Page(rows, found.cursor)

    async def names_of(self, _ids: Collection[str], /) -> Mapping[str, str]:
        """The names of users, without those who left; override it in a service with names."""
        return {}


class Oversight(Accountable):
    """The operations of a service whose `subjects` can be reported."""

    subjects: ClassVar[Mapping[str, Subject]] = {}

    @mutation("/reports", name="report", allow=authenticated, status=201)
    async def report(
        self, kind: str, subject_id: str, reason: Grounds, caller: Identity
    ) -> Reported:
        """Ask moderators to look at something; its owner does not learn who asked."""
        subject = self._subject(kind)
        found = await self.db.find(subject.ref(subject_id))
        sees = await subject.allow.allows(self, caller, subject.place(subject_id))
        if found is None or not sees:
            raise Invalid("subjectId", f"unknown {kind}")
        owner = getattr(found, subject.owner)
        if owner == caller.id:
            raise Invalid("subjectId", "you cannot report your own content")
        report = self.trail.report(
            kind=kind,
            subject_id=subject_id,
            reporter_id=caller.id,
            owner_id=owner,
            reason=reason,
            excerpt=str(getattr(found, subject.shown))[:EXCERPT],
            created_at=self.db.context.now(),
        )
        return Reported(**dict(await self.db.put(report)))

    @query("/reports", allow=moderator)
    async def reports(self, page: PageRequest) -> Page[Reported]:
        """Reports that wait for a decision, by subject."""
        read = self.trail.open_reports.after(page.cursor)
        found = await read(self.db, limit=page.limit)
        names = await self.names_of(
            {id for one in found for id in (one.reporter_id, one.owner_id) if id is not None}
        )
        rows = [
            Reported(
                **dict(one),
                reporter_name=names.get(one.reporter_id),
                owner_name=names.get(one.owner_id),
            )
            for one in found
        ]
        return Page(rows, found.cursor)

    @mutation("/decisions", name="decide", allow=moderator)
    async def decide(
        self, kind: str, subject_id: str, decision: Decision, reason: Grounds, caller: Identity
    ) -> None:
        """Dismiss a report, or remove its subject; either is recorded with its reason.

        An interrupted removal continues when it is decided again.
        """
        subject = self._subject(kind)
        about = self.trail.report.key.query(kind=kind, subject_id=subject_id)
        entry = self.trail.note(self.db, caller, decision, f"{kind} {subject_id}", reason)
        if decision == "dismiss":
            if await self.db.read(about.first()) is None:
                raise Missing(f'There are no reports of {kind} "{subject_id}".')
            # Record the decision first: no report disappears without a trace.
            await self.db.transact(entry)
            await self.db.delete_collection(about)
            return
        if subject.by_admin and not caller.is_admin:
            raise NotAllowed(f"Only an administrator can remove this {kind}.")
        item = await self.db.find(subject.ref(subject_id))
        if item is None:
            raise Missing.of(kind, subject_id)
        told = await self._removal_notices(subject, kind, item, reason)
        try:
            await self.db.transact(entry, *subject.remove(item), *told)
        except NotFound:
            raise Missing.of(kind, subject_id) from None
        except ConditionFailed:
            raise Conflict(
                f"This {kind} cannot be removed in its current state.", code="NOT_NOW"
            ) from None
        if subject.finish is not None:
            await subject.finish(self, item, caller)
        await self.db.delete_collection(about)

    async def removal_notice(self, _removed: Removed, /) -> Intent | None:
        """The write that tells an owner what was removed and why, for services with notices."""
        return None

    async def _removal_notices(
        self, subject: Subject, kind: str, item: Any, reason: str
    ) -> list[Intent]:
        owner_id = getattr(item, subject.owner)
        if owner_id is None or list(subject.fields) == [subject.owner]:
            return []  # without an owner, or the person themselves
        title = str(getattr(item, subject.shown))[:EXCERPT]
        notice = await self.removal_notice(Removed(kind, item, owner_id, title, reason))
        return [] if notice is None else [notice]

    def _subject(self, kind: str) -> Subject:
        if kind not in self.subjects:
            raise Invalid("kind", f"must be one of {', '.join(sorted(self.subjects))}")
        return self.subjects[kind]
