"""Tools that write through the design: the plan first, then the write that was planned."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, Field, TypeAdapter, ValidationError
from pydantic_core import to_jsonable_python

from keyfold.clients.recorded import WriteHeldBack
from keyfold.design.address import Ref
from keyfold.design.entity import Entity
from keyfold.design.validation import complaints, in_one_line
from keyfold.errors import KeyfoldError
from keyfold.mcp.tool import tool
from keyfold.mcp.workspace import Workspace
from keyfold.runtime import Db
from keyfold.settings import nearest

Verb = Literal["create", "update", "delete"]
PLANS_KEPT = 20


@dataclass(frozen=True, slots=True)
class AskedWrite:
    """What was asked for when its plan was shown."""

    verb: Verb
    entity: type[Entity]
    values: dict[str, Any]


class WritePlan(BaseModel):
    """What a write would send."""

    plan: str = Field(description="Give it to send_write to send this.")
    operation: str
    request: dict[str, Any]
    later: list[str] = Field(description="What the consumer of the stream does behind it.")
    units_read: float


class WriteSent(BaseModel):
    """What a write came to."""

    operation: str
    units: float


class WriteTools:
    """Writes by the same path as code: copies, counters and unique values are kept right."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._plans: OrderedDict[str, AskedWrite] = OrderedDict()

    @tool(idempotent=False)
    def plan_write(self, verb: Verb, entity: str, values: dict[str, Any]) -> WritePlan:
        """What creating, updating or deleting an item would send. Nothing is sent.

        `values` are fields by name: all of a new item, the key and the changes of an update, the
        key of what is deleted.
        """
        known = self._workspace.design.entities
        if entity not in known:
            raise KeyfoldError(f"the design has no entity {entity!r}; {nearest(entity, known)}")
        planned = AskedWrite(verb, known[entity], values)
        with self._workspace.db() as (db, client):
            try:
                _write(db, planned)
            except WriteHeldBack:
                held = client.requests[-1]
            else:
                raise KeyfoldError("this would change nothing: the item has these values already")
            name = secrets.token_hex(8)
            self._plans[name] = planned
            while len(self._plans) > PLANS_KEPT:
                self._plans.popitem(last=False)
            return WritePlan(
                plan=name,
                operation=held.operation,
                request=to_jsonable_python(held.request, fallback=str),
                later=[
                    one.name
                    for one in self._workspace.schema.follows
                    if one.source == entity and one.sync == "stream"
                ],
                units_read=client.units,
            )

    @tool(writes=True, destructive=True, idempotent=False)
    def send_write(self, plan: str) -> WriteSent:
        """Send a write whose plan was shown. A plan is good once."""
        planned = self._plans.pop(plan, None)
        if planned is None:
            raise KeyfoldError("there is no such plan, or it was sent already; plan it again")
        with self._workspace.db(write=True) as (db, client):
            _write(db, planned)
            return WriteSent(operation=client.requests[-1].operation, units=client.units)


def _write(db: Db, planned: AskedWrite) -> None:
    entity, values = planned.entity, dict(planned.values)
    if planned.verb == "create":
        try:
            db.create(entity(**values))
        except ValidationError as problem:
            raise KeyfoldError(f"{entity.__name__}: {in_one_line(complaints(problem))}") from None
        return
    ref = _ref(entity, values)
    if planned.verb == "delete":
        if values:
            raise KeyfoldError(f"a delete takes the key alone, not {', '.join(values)}")
        db.delete(ref)
    else:
        db.update(ref, **{name: _value(entity, name, one) for name, one in values.items()})


def _ref(entity: type[Entity], values: dict[str, Any]) -> Ref[Any]:
    """The address by the fields of the key, which leave the values."""
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
