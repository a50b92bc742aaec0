"""Tools that write through the design: the plan first, then the write that was planned."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from typing import Any, Literal

from pydantic import BaseModel, Field, TypeAdapter, ValidationError
from pydantic_core import to_jsonable_python

from keyfold.design.address import Ref
from keyfold.design.entity import Entity
from keyfold.design.validation import complaints, in_one_line
from keyfold.errors import KeyfoldError
from keyfold.runtime import Db, Intent, transaction
from keyfold.runtime.planned_write import PlannedWrite, plan_write, send_write
from keyfold.settings import nearest
from keyfold_workbench.mcp.tool import tool
from keyfold_workbench.mcp.workspace import Workspace

Verb = Literal["create", "update", "delete"]
PLANS_KEPT = 20


class WritePlan(BaseModel):
    """What a write would send."""

    plan: str = Field(description="Give it to send_write to send this.")
    operation: str
    request: dict[str, Any]
    later: list[str] = Field(description="What the stream's consumer does afterwards.")
    units_read: float


class WriteSent(BaseModel):
    """The result of a write."""

    operation: str
    units: float


class WriteTools:
    """Writes through the same path as code: copies, counters and unique values stay correct."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._plans: OrderedDict[str, PlannedWrite] = OrderedDict()

    @tool(idempotent=False)
    def plan_write(self, verb: Verb, entity: str, values: dict[str, Any]) -> WritePlan:
        """What creating, updating or deleting an item would send. Nothing is sent.

        `values` are fields by name: all of a new item, the key and the changes of an update, the
        key of a deleted item.
        """
        kind = self._workspace.entity(entity)
        given = _fields(kind, values)
        with self._workspace.db() as (db, client):
            _check(db, verb, kind, given)
            planned = plan_write(db, client, [_intent(verb, kind, given)])
        if planned.request is None:
            raise KeyfoldError("this would change nothing: the item has these values already")
        name = secrets.token_hex(8)
        self._plans[name] = planned
        while len(self._plans) > PLANS_KEPT:
            self._plans.popitem(last=False)
        return WritePlan(
            plan=name,
            operation=planned.request.operation,
            request=to_jsonable_python(planned.request.request, fallback=str),
            later=[name for _, name in planned.later],
            units_read=planned.read_units,
        )

    @tool(writes=True, destructive=True, idempotent=False)
    def send_write(self, plan: str) -> WriteSent:
        """Send a write whose plan was shown. A plan can be used once."""
        planned = self._plans.pop(plan, None)
        if planned is None:
            raise KeyfoldError("the plan is unknown or was already sent; plan it again")
        with self._workspace.db(write=True) as (db, client):
            sent = send_write(db, client, planned)
            return WriteSent(operation=sent.operation, units=client.units)


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
