"""What keeps order: reports, the trail of what was decided, and locks that end by themselves."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Final, Literal

from pydantic import Field

from keyfold import Created, Entity, Id, Key, On, Timestamp, Ttl
from keyfold_web import AuditFields, SuspensionFields
from keyfold_systems.gg_core import oversight_types as typed
from keyfold_systems.gg_core.entities import table

SubjectType = Literal["activity", "message", "user", "group"]
Decision = Literal["dismissed", "removed"]
ReportStatus = Literal["open", "dismissed", "removed"]
LOCKED_FOR: Final = timedelta(minutes=15)
SUSPENDED_HOURS: Final = 30 * 24
"""How long somebody is suspended whom a decision over a report removes."""


class Report(typed.Report, Entity, table=table):
    """Somebody finds that something should not be here; one report of each about a thing."""

    reporter_id: Id
    subject_type: SubjectType
    subject_id: Id
    place_id: Id | None = None
    """The actor of an activity, the room of a message."""
    owner_id: Id | None = None
    """Whose it is, with whom the report goes; nobody's if it is a group, which stays."""
    subject_created_at: Timestamp | None = None
    reason: Annotated[str, Field(min_length=1, max_length=1000)]
    status: ReportStatus = "open"
    handled_by: Id | None = None
    handled_at: Timestamp | None = None
    note: str = ""
    created_at: Timestamp

    key = Key("USER#{reporter_id}", "REPORT#{subject_type}#{subject_id}")
    by_status = On(
        "GSI1",
        "REPORTS#{status}",
        "ENTITY#Report#{created_at:iso}#{subject_id}#{reporter_id}",
        silence=(("X8", "people report by hand, and moderators read by hand"),),
    )
    by_owner = On(
        "GSI2",
        "REPORTED#{owner_id}",
        "REPORT#{subject_type}#{subject_id}#{reporter_id}",
        when="owner_id",
    )


class AuditEntry(
    typed.AuditEntry,
    AuditFields,
    Entity,
    table=table,
    silence=(("W8", "what was decided over people is kept"),),
):
    """What was decided over somebody, by whom and why."""

    key = Key("AUDIT#{at:%Y-%m}", "TS#{at:iso}#{entry_id}")


class Suspension(typed.Suspension, SuspensionFields, Entity, table=table):
    """Somebody may not write for a while."""

    key = Key("USER#{user_id}", "SUSPENSION")


class Lock(typed.Lock, Entity, table=table):
    """Somebody works on something alone for a while; the time to live takes what is left over."""

    name: Id
    holder_id: Id
    since: Annotated[Timestamp | None, Created()] = None
    expires_at: Annotated[Timestamp, Ttl()]

    key = Key("LOCK#{name}", "LOCK#{name}")
