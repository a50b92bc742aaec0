"""What keeps order: reports that wait, the trail of what was decided, and who may not write."""

from __future__ import annotations

from keyfold import Entity, Key
from keyfold_web import AuditFields, ReportFields, SuspensionFields, Trail
from keyfold_systems.search_room.entities import design, table


class Report(
    ReportFields,
    Entity,
    table=table,
    silence=(("X8", "only what is undecided is here: some hundreds, read by moderators"),),
):
    """Somebody wants moderators to look at something."""

    key = Key("REPORTS", "REPORT#{kind}#{subject_id}#{reporter_id}")


class AuditEntry(
    AuditFields,
    Entity,
    table=table,
    silence=(("W8", "what was decided over people is kept"),),
):
    """What was decided over somebody."""

    key = Key("AUDIT#{at:%Y-%m}", "AT#{at:iso}#{entry_id}")


class Suspension(SuspensionFields, Entity, table=table):
    """Somebody may not write for a while."""

    key = Key("USER#{user_id}", "SUSPENSION")


trail = Trail.of(design, Report, AuditEntry)
