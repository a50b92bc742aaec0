"""Tools that write through the design: the plan first, then the write that was planned."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from typing import Any, Literal

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from keyfold.design.address import Ref
from keyfold.design.entity import Entity
from keyfold.design.validation import complaints, in_one_line
from keyfold.errors import KeyfoldError
from keyfold.runtime import Db, Intent, transaction
from keyfold.runtime.planned_write import PlannedWrite, send_write
from keyfold.settings import nearest
from keyfold_workbench.mcp.tool import ToolAnswer, as_json, fitting, tool
from keyfold_workbench.mcp.workspace import Workspace
from keyfold_workbench.studio.items import ItemReader
from keyfold_workbench.studio.outline import OutlineStep, outline_on

Verb = Literal["create", "update", "delete"]
PLANS_KEPT = 20


class PlannedItem(BaseModel):
    """What a write does to one item."""

    action: str
    item: str = Field(description="Its table and key.")
    changes: list[str] = Field(description="Attributes, before → after.")
    condition: str


class WritePlan(ToolAnswer):
    """What a write would do, and send."""

    plan: str = Field(description="Give it to send_write to send this.")
    operation: str
    items: list[PlannedItem]
    left_out: int = Field(0, description="Items beyond these: ask with detail.")
    request: dict[str, Any] | None = Field(None, description="The whole request, with detail.")
    units_written: float
    later: list[str] = Field(description="What the stream's consumer does afterwards.")
    units_read: float


class WriteSent(ToolAnswer):
    """The result of a write."""

    operation: str
    units: float


class WriteTools:
    """Writes through the same path as code: copies, counters and unique values stay correct."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._plans: OrderedDict[str, PlannedWrite] = OrderedDict()

    @tool(idempotent=False, then="Show the plan; with approval, send it with send_write.")
    def plan_write(
        self, verb: Verb, entity: str, values: dict[str, Any], detail: bool = False
    ) -> WritePlan:
        """What creating, updating or deleting an item would do: each item before and after.

        Nothing is sent. `values` are fields by name: all of a new item, the key and the changes of
        an update, the key of a deleted item. With `detail`, also the request as it would be sent.
        """
        kind = self._workspace.entity(entity)
        given = _fields(kind, values)
        with self._workspace.db() as (db, client):
            _check(db, verb, kind, given)
            design = self._workspace.design
            reader = ItemReader(design.schema)
            made = outline_on(db, client, design, reader, [_intent(verb, kind, given)])
        planned = made.planned
        if planned.request is None:
            raise KeyfoldError("this would change nothing: the item has these values already")
        name = secrets.token_hex(8)
        self._plans[name] = planned
        while len(self._plans) > PLANS_KEPT:
            self._plans.popitem(last=False)
        items = [_change(step) for step in made.steps]
        shown = items if detail else fitting(items, 0, 3_000)[0]
        return WritePlan(
            plan=name,
            operation=planned.request.operation,
            items=shown,
            left_out=len(items) - len(shown),
            request=as_json(planned.request.request) if detail else None,
            units_written=made.table_units + made.index_units,
            later=[name for _, name in planned.later],
            units_read=planned.read_units,
        )

    @tool(
        writes=True,
        destructive=True,
        idempotent=False,
        then="Read the item again to see it, or undo it by a plan of the reverse.",
    )
    def send_write(self, plan: str) -> WriteSent:
        """Send a write whose plan was shown. A plan can be used once."""
        planned = self._plans.pop(plan, None)
        if planned is None:
            raise KeyfoldError("the plan is unknown or was already sent; plan it again")
        with self._workspace.db(write=True) as (db, client):
            sent = send_write(db, client, planned)
            return WriteSent(operation=sent.operation, units=client.units)


def _change(step: OutlineStep) -> PlannedItem:
    key = " ".join(str(next(iter(value.values()))) for value in step.key.values())
    return PlannedItem(
        action=step.action,
        item=f"{step.table.name} {key}",
        changes=[
            f"{name}: {old or 'nothing'} → {new or 'nothing'}" for name, old, new in step.changes
        ],
        condition=step.condition,
    )


def _check(db: Db, verb: Verb, entity: type[Entity], given: dict[str, Any]) -> None:
    """Refuse what would fail or have no effect when sent."""
    values, address = dict(given), entity.__spec__.key.address
    if verb == "create" and not all(name in values for name in address):
        return
    stored = db.find(_ref(entity, values))
    named = f"{entity.__name__} {', '.join(f'{n}={given[n]!r}' for n in address)}"
    if verb == "create" and stored is not None:
        raise KeyfoldError(f"{named} exists already; update it, or choose another key")
    if verb != "create" and stored is None:
        raise KeyfoldError(f"{named} does not exist; list_items shows those that do")
    if verb == "update" and not values:
        raise KeyfoldError(f"{named}: give the fields that change, with their new values")


def _fields(entity: type[Entity], values: dict[str, Any]) -> dict[str, Any]:
    """Values by field name; refuses unknown names and values that would be lost."""
    declared = entity.model_fields
    aliases = {one.alias: name for name, one in declared.items() if one.alias}
    read = {aliases.get(name, name): value for name, value in values.items()}
    for name in read:
        if name not in declared:
            raise KeyfoldError(
                f"{entity.__name__} has no field {name!r}; {nearest(name, declared)}"
            )
    return read


def _intent(verb: Verb, entity: type[Entity], given: dict[str, Any]) -> Intent:
    values = dict(given)
    if verb == "create":
        required = [name for name, one in entity.model_fields.items() if one.is_required()]
        if missing := [name for name in required if name not in values]:
            raise KeyfoldError(f"{entity.__name__} needs {', '.join(missing)}")
        try:
            return transaction.create(entity(**values))
        except ValidationError as problem:
            raise KeyfoldError(f"{entity.__name__}: {in_one_line(complaints(problem))}") from None
    ref = _ref(entity, values)
    if verb == "delete":
        if values:
            raise KeyfoldError(f"a delete takes only the key, not {', '.join(values)}")
        return transaction.delete(ref)
    changes = {name: _value(entity, name, one) for name, one in values.items()}
    intent: Intent = transaction.update(ref, **changes)
    return intent


def _ref(entity: type[Entity], values: dict[str, Any]) -> Ref[Any]:
    """The address from the key's fields, which are removed from the values."""
    key = entity.__spec__.key
    fields = {name: values.pop(name) for name in key.address if name in values}
    read = {name: _value(entity, name, one) for name, one in fields.items()}
    ref: Ref[Any] = getattr(entity, key.name)(**read)
    return ref


def _value(entity: type[Entity], name: str, given: Any) -> Any:
    declared = entity.model_fields.get(name)
    if declared is None:
        raise KeyfoldError(
            f"{entity.__name__} has no field {name!r}; {nearest(name, entity.model_fields)}"
        )
    try:
        kind: Any = declared.annotation
        return TypeAdapter(kind).validate_python(given)
    except ValidationError as problem:
        raise KeyfoldError(
            f"{entity.__name__}.{name}: {in_one_line(complaints(problem))}"
        ) from None
