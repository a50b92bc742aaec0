"""Moving an item to another key: delete and create in one transaction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keyfold.design.address import Ref
from keyfold.design.entity import Entity
from keyfold.errors import (
    NotFound,
    PlanError,
    VersionConflict,
)
from keyfold.runtime import changes as change
from keyfold.runtime.arguments import ref_of
from keyfold.runtime.changes import validate
from keyfold.runtime.context import Context
from keyfold.runtime.counted_fields import initial_counts, refuse_copy
from keyfold.runtime.expansion import CHANGED, version_of
from keyfold.runtime.flow import Flow
from keyfold.runtime.intent import Delete, Put, Update
from keyfold.runtime.reads import find_item
from keyfold.runtime.steps import step_refused
from keyfold.runtime.writes import commit


def move(context: Context, target: Entity | Ref[Any], changes: Mapping[str, Any]) -> Flow[Any]:
    """The item under its new key; the old item is deleted in the same transaction."""
    ref = ref_of(target)
    refuse_copy(ref.entity, "move")
    item = yield from find_item(context, ref)
    if item is None:
        raise NotFound(f"{ref} does not exist")
    old = ref.entity.__spec__.decode(item)
    carried = ref.entity.__spec__.undeclared_attributes(item)
    if not isinstance(target, Ref) and version_of(old) != version_of(target):
        raise VersionConflict(CHANGED.format(ref))
    checked = {name: validate(ref.entity, name, value) for name, value in changes.items()}
    updated = ref.entity.__spec__.updated
    stamps = {} if updated is None else {updated.name: None}
    new = old.model_copy(update={**initial_counts(ref.entity), **stamps, **checked})
    states = ref.entity.__spec__.states
    taken = {name: change.Set(value) for name, value in checked.items() if name in states}
    refused = step_refused(ref.entity.__spec__, Update(ref, taken), old)
    if refused is not None:
        raise refused
    if new.ref().wire() == ref.wire():
        raise PlanError(f"{ref} would not move: no key field changes")
    results = yield from commit(
        context,
        [Delete(ref, read_before=old, carried=carried), Put(new, moved=True, carried=carried)],
    )
    return results[1]
