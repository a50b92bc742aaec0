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

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import BaseModel, Field

from keyfold.api.identity import Identity
from keyfold.api.names import Payload
from keyfold.api.operation import mutation, query
from keyfold.api.page_request import PageRequest
from keyfold.api.problems import Conflict, Invalid, Missing, NotAllowed
from keyfold.api.rules import Arguments, Rule, authenticated, rule
from keyfold.design import Id, Page, Query, Timestamp, new_ulid
from keyfold.design.address import Ref
from keyfold.errors import ConditionFailed, NotFound
from keyfold.runtime import AsyncDb, Design, Intent, create, delete
from keyfold.streams import Delivery

MODERATORS: Final = "moderator"
EXCERPT: Final = 200
BETWEEN: Final = "/"
"""Between the parts of a subject's id, where its key has several."""

Grounds = Annotated[str, Field(min_length=1, max_length=500)]
Decision = Literal["dismiss", "remove"]


class ReportFields(BaseModel):
    """Somebody wants moderators to look at something; it waits until one decided."""

    kind: Id
    subject_id: Annotated[str, Field(min_length=1, max_length=300, pattern=r"^[^#]+$")]
    reporter_id: Id
    owner_id: Id | None = None
    """Whose it is."""
    reason: Grounds
    excerpt: Annotated[str, Field(max_length=EXCERPT)] = ""
    """What it looked like then."""
    created_at: Timestamp


class AuditFields(BaseModel):
    """What was decided, by whom and why; it is never changed."""

    entry_id: Id
    at: Timestamp
    by: Id
    action: str
    subject: str
    note: str = ""


class Reported(ReportFields, Payload):
    """A report, as moderators see it."""


class Decided(AuditFields, Payload):
    """A decision, as the trail has it."""


@rule
def moderator(_: object, caller: Identity, __: Arguments) -> bool:
    """A moderator or an administrator, by the groups of their token."""
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
        """Declare their access patterns and their domain events."""

        def open_reports(limit: int = 50) -> Query[Any]:
            """What waits for a decision, by what it is about."""
            read: Query[Any] = report.key.query().limit(limit)
            return read

        def audit_of_month(month: datetime, limit: int = 50) -> Query[Any]:
            """What was decided in the month of a time, newest first."""
            read: Query[Any] = entry.key.query(at=month).descending().limit(limit)
            return read

        def announce_report(_: None, new: Any, delivery: Delivery) -> None:
            """Announces ContentReported."""
            delivery.emit("ContentReported", {"kind": new.kind, "subjectId": new.subject_id})

        def announce_decision(_: None, new: Any, delivery: Delivery) -> None:
            """Announces ModeratorDecided."""
            payload = {"action": new.action, "subject": new.subject, "by": new.by}
            delivery.emit("ModeratorDecided", payload)

        design.on(report, "insert")(announce_report)
        design.on(entry, "insert")(announce_decision)
        pattern = design.pattern(requests=1)
        return cls(report, entry, pattern(open_reports), pattern(audit_of_month))

    def note(
        self, db: AsyncDb, caller: Identity, action: str, subject: str, note: str = ""
    ) -> Intent:
        """The entry of a decision; it goes into the decision's own transaction."""
        now = db.context.now()
        values = {"action": action, "subject": subject, "note": note, "by": caller.id, "at": now}
        return create(self.entry(entry_id=new_ulid(), **values))

    def reported_by(self, user_id: str) -> Query[Any]:
        """What somebody reported that waits; there are never many."""
        wanted: Query[Any] = self.report.key.query().where(lambda r: r.reporter_id == user_id)
        return wanted


def _deleted(item: Any) -> list[Intent]:
    return [delete(item.ref(), must_exist=True)]


@dataclass(frozen=True)
class Subject:
    """One kind of thing that can be reported."""

    entity: Any
    fields: Sequence[str]
    """Those of its key; an id has their values, with a slash between."""
    allow: Rule
    """Who sees it, and so may report it; the rule gets the fields as arguments."""
    owner: str
    """The field with whose it is."""
    shown: str
    """The field that a report quotes."""
    remove: Callable[[Any], list[Intent]] = _deleted
    """The writes that remove it, or begin to; they share a transaction with the entry."""
    finish: Callable[[Any, Any, Identity], Awaitable[None]] | None = None
    """What else is to be done: `finish(service, item, caller)`; a repeated decision repeats it."""
    by_admin: bool = False
    """Whether it takes an administrator to remove it."""

    def place(self, subject_id: str) -> dict[str, str]:
        """The fields of an id."""
        parts = subject_id.split(BETWEEN)
        if len(parts) != len(self.fields) or not all(parts):
            form = BETWEEN.join(f"<{name}>" for name in self.fields)
            raise Invalid("subjectId", f"an id here is {form}")
        return dict(zip(self.fields, parts, strict=True))

    def ref(self, subject_id: str) -> Ref[Any]:
        found: Ref[Any] = self.entity.key(**self.place(subject_id))
        return found


class Oversight:
    """The operations of a service whose `subjects` say what can be reported."""

    trail: ClassVar[Trail]
    subjects: ClassVar[Mapping[str, Subject]] = {}
    db: AsyncDb

    @mutation("/reports", name="report", allow=authenticated, status=201)
    async def report(
        self, kind: str, subject_id: str, reason: Grounds, caller: Identity
    ) -> Reported:
        """Ask moderators to look at something; whose it is does not learn who asked."""
        subject = self._subject(kind)
        found = await self.db.find(subject.ref(subject_id))
        sees = await subject.allow.allows(self, caller, subject.place(subject_id))
        if found is None or not sees:
            raise Invalid("subjectId", f"unknown {kind}")
        owner = getattr(found, subject.owner)
        if owner == caller.id:
            raise Invalid("subjectId", "this is your own")
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
        """What waits for a decision, by what it is about."""
        read = self.trail.open_reports.after(page.cursor)
        found = await read(self.db, limit=page.limit)
        return Page([Reported(**dict(one)) for one in found], found.cursor)

    @mutation("/decisions", name="decide", allow=moderator)
    async def decide(
        self, kind: str, subject_id: str, decision: Decision, reason: Grounds, caller: Identity
    ) -> None:
        """Dismiss what was reported, or remove what it is about; either is noted with its reason.

        A removal that was cut off goes on when it is decided again.
        """
        subject = self._subject(kind)
        about = self.trail.report.key.query(kind=kind, subject_id=subject_id)
        entry = self.trail.note(self.db, caller, decision, f"{kind} {subject_id}", reason)
        if decision == "dismiss":
            if await self.db.read(about.first()) is None:
                raise Missing("Nobody reported it.")
            # Noted first: no report goes without a trace.
            await self.db.transact(entry)
            await self.db.delete_collection(about)
            return
        if subject.by_admin and not caller.is_admin:
            raise NotAllowed(f"An administrator removes a {kind}.")
        item = await self.db.find(subject.ref(subject_id))
        if item is None:
            raise Missing(f"This {kind} does not exist.")
        try:
            await self.db.transact(entry, *subject.remove(item))
        except NotFound:
            raise Missing(f"This {kind} does not exist.") from None
        except ConditionFailed:
            raise Conflict(f"This {kind} cannot be removed as it is.", code="NOT_NOW") from None
        if subject.finish is not None:
            await subject.finish(self, item, caller)
        await self.db.delete_collection(about)

    @query("/audit", allow=moderator)
    async def audit(self, page: PageRequest, month: Timestamp | None = None) -> Page[Decided]:
        """What was decided in the month of a time, which is now by default; newest first."""
        read = self.trail.audit_of_month.after(page.cursor)
        at = month or self.db.context.now()
        found = await read(self.db, at, limit=page.limit)
        return Page([Decided(**dict(one)) for one in found], found.cursor)

    def _subject(self, kind: str) -> Subject:
        if kind not in self.subjects:
            raise Invalid("kind", f"one of {', '.join(sorted(self.subjects))}")
        return self.subjects[kind]
