"""What keeps order: the trail of what was decided, and who may not write for a while."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from keyfold import Entity, Key
from keyfold_web import AuditFields, SuspensionFields
from keyfold_systems.tamafriends import oversight_types as typed
from keyfold_systems.tamafriends.entities import table


class AuditEntry(
    typed.AuditEntry,
    AuditFields,
    Entity,
    table=table,
    silence=(("W8", "what was decided over people is kept"),),
):
    """What a moderator decided, about what, and why; it is never changed."""

    excerpt: Annotated[str, Field(max_length=200)] = ""
    """The words of what was removed."""

    key = Key("AUDIT#{at:%Y-%m}", "AT#{at:iso}#{entry_id}")


class Suspension(typed.Suspension, SuspensionFields, Entity, table=table):
    """Somebody may not write for a while."""

    key = Key("USER#{user_id}", "SUSPENSION")
