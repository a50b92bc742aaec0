"""Tables of before the shared suspensions: their audit trail and reports become this design's.

Suspensions of then are not among it: they end with the change, and are decided again.
"""

from __future__ import annotations

from typing import Any

from keyfold.migrations import Migration, derive, drop_attribute, fill_indexes, rename_attribute
from keyfold_systems.tamafriends.entities import Report
from keyfold_systems.tamafriends.oversight import AuditEntry

BY_USER = ("USER#{user_id}", "REPORT#{created_at:iso}#{target_id}")


def subject_of(item: dict[str, Any]) -> str:
    return f"{item['kind']} {item['targetId']}"


oversight = Migration(
    "tamafriends-oversight",
    [
        rename_attribute(AuditEntry, "actorId", "by"),
        rename_attribute(AuditEntry, "reason", "note"),
        derive(AuditEntry, "subject", subject_of),
        *(
            drop_attribute(AuditEntry, name)
            for name in ("actorId", "reason", "kind", "targetId", "month")
        ),
        fill_indexes(Report, before={"GSI2": [(BY_USER, "")]}),
    ],
    description="The audit trail with the fields of all systems; reports by whom they are about.",
)
