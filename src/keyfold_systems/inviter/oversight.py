"""What keeps order: reports that wait, and the trail of what was decided."""

from __future__ import annotations

from keyfold import Entity, Key
from keyfold.api import AuditFields, ReportFields, Trail
from keyfold_systems.inviter import oversight_types as typed
from keyfold_systems.inviter.entities import design, table


class Report(
    typed.Report,
    ReportFields,
    Entity,
    table=table,
    silence=(("X8", "only what is undecided is here: some hundreds, read by moderators"),),
):
    """Somebody wants moderators to look at something."""

    key = Key("REPORTS", "REPORT#{kind}#{subject_id}#{reporter_id}")


class AuditEntry(
    typed.AuditEntry,
    AuditFields,
    Entity,
    table=table,
    silence=(("W8", "what was decided over people is kept"),),
):
    """What was decided over somebody."""

    key = Key("AUDIT#{at:%Y-%m}", "AT#{at:iso}#{entry_id}")


trail = Trail.of(design, Report, AuditEntry)
