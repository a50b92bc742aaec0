"""Write planning: each intent as one wire write, with its guards."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from keyfold.design import markers
from keyfold.design.codec import UNSTORABLE, document
from keyfold.design.entity import Entity
from keyfold.design.entity_spec import EntitySpec
from keyfold.errors import (
    AlreadyExists,
    ConditionFailed,
)
from keyfold.runtime import changes as change
from keyfold.runtime.changes import (
    Change,
    FromField,
    PlacedChange,
    apply_changes,
    check_length,
    in_one_form,
)
from keyfold.runtime.context import Context
from keyfold.runtime.expression import Clauses, Expressions
from keyfold.runtime.guard import Lingering, WireItem, not_met, refusal_of, unchanged_guards
from keyfold.runtime.intent import Check, Delete, Intent, Marker, Put, Update
from keyfold.runtime.recognition import is_expired
from keyfold.runtime.steps import step_conditions
from keyfold.runtime.validity import limits, settle


@dataclass(frozen=True)
class WireWrite:
    """One entry of a transaction, or the body of a single write."""

    action: str
    request: Mapping[str, Any]
    intent: Intent
    refusal: Callable[[WireItem | None], Exception]
    """The error that a failed condition means here, given the stored item."""


def stamp(context: Context, new: Entity) -> tuple[Entity, WireItem]:
    """A new item as it will be read back, with version, timestamps and expiry, and its stored
    form.
    """
    spec = new.__spec__
    values: dict[str, Any] = {}
    now = context.now()
    if spec.version is not None and not getattr(new, spec.version.name):
        values[spec.version.name] = 1
    for field in (spec.created, spec.updated):
        if field is not None and getattr(new, field.name) is None:
            values[field.name] = now
    expiry = expiry_of(context, spec, new.__dict__ | values)
    if expiry is not None and spec.ttl is not None and getattr(new, spec.ttl.name) is None:
        values[spec.ttl.name] = expiry
    for field in spec.bounded_fields:
        check_length(spec, field, getattr(new, field.name))
    for name, normalise in spec.normalised_fields:
        if getattr(new, name) is not None:
            values[name] = normalise(getattr(new, name))
    return settle(new.model_copy(update=values) if values else new)


def expiry_of(context: Context, spec: EntitySpec, values: Mapping[str, Any]) -> Any:
    """The computed expiry, or None if the caller sets it."""
    mark = spec.ttl.mark(markers.Ttl) if spec.ttl is not None else None
    if mark is None or mark.days is None:
        return None
    start = values.get(mark.after) if mark.after else context.now()
    return None if start is None else start + timedelta(days=mark.days)


def put_write(context: Context, intent: Put, wire: WireItem | None) -> WireWrite:
    """A put of the item in its stored form, if known."""
    spec = intent.new.__spec__
    expressions = Expressions()
    conditions = []
    if intent.absent:
        conditions.append(f"attribute_not_exists({expressions.name(spec.table.schema.partition)})")
    if intent.condition is not None:
        conditions.append(expressions.condition(intent.condition, spec))
    item = {**intent.carried, **(spec.encode(intent.new) if wire is None else wire)}
    replacing = "" if intent.absent else _replacing(spec, item, expressions)
    names = spec.table.schema.key_attributes
    written: WireItem = {"Item": item}
    if replacing:
        written = {"Key": {name: item[name] for name in names}, "UpdateExpression": replacing}
    request = {
        "TableName": context.physical(spec.table.schema),
        **written,
        **_guard(conditions, expressions),
    }

    def refusal(item: WireItem | None) -> Exception:
        if intent.absent and item is not None and is_expired(context, spec, item):
            return Lingering(intent.new.ref(), item)
        if intent.absent and (item is not None or intent.condition is None):
            return AlreadyExists(f"{intent.new.ref()} already exists; update it instead")
        return not_met(intent.new.ref(), intent.condition, item)

    return WireWrite("Update" if replacing else "Put", request, intent, refusal)


def _replacing(spec: EntitySpec, item: WireItem, expressions: Expressions) -> str:
    """The update that turns a stored item into this one and leaves undeclared attributes alone."""
    actions = Clauses(expressions)
    for attribute in sorted(spec.attributes - set(spec.table.schema.key_attributes)):
        actions.attribute(attribute, item.get(attribute))
    return actions.text()


def update_write(
    context: Context,
    intent: Update,
    old: Entity | None,
    new: Entity | None,
    stored: WireItem | None,
    wire: WireItem | None,
) -> WireWrite:
    """An update; the guard compares with `old`, and `new` gives whole index keys.

    `stored` is the form of `old` in the table where it differs from ours, `wire` the stored form of
    `new`.
    """
    spec = intent.ref.entity.__spec__
    expressions = Expressions()
    key = intent.ref.wire()
    conditions = []
    if intent.if_missing != "create":
        conditions.append(f"attribute_exists({expressions.name(spec.table.schema.partition)})")
    if old is not None:
        conditions += unchanged_guards(expressions, spec, old, stored, intent)
    if intent.expected_version is not None and spec.version is not None:
        name = expressions.name(spec.version.attribute)
        conditions.append(f"{name} = {expressions.value({'N': str(intent.expected_version)})}")
    if not intent.counting:
        conditions += limits(expressions, spec, intent)
    if spec.states:
        conditions += step_conditions(expressions, spec, intent)
    if intent.condition is not None:
        conditions.append(expressions.condition(intent.condition, spec))
    actions = _Actions(expressions)
    for name, one in intent.changes.items():
        try:
            actions.change(spec, name, one)
        except UNSTORABLE as refused:
            raise spec.refusal(name, refused) from None
    if spec.placements:
        for attribute, value in _index_changes(spec, intent, new, key, wire).items():
            actions.attribute(attribute, value)
    type_attribute = spec.table.schema.type_attribute
    if intent.if_missing == "create":
        if type_attribute is not None:
            actions.default(type_attribute, {"S": spec.type_name})
        for field in spec.key.address:
            named = spec.fields[field]
            if named.attribute not in key and named.reader is None and field not in intent.changes:
                actions.default(named.attribute, spec.encoders[field](intent.ref.values[field]))
    request = {
        "TableName": context.physical(spec.table.schema),
        "Key": key,
        "UpdateExpression": actions.text(),
        **_guard(conditions, expressions),
    }
    return WireWrite("Update", request, intent, refusal_of(intent, spec, old, stored))


def delete_write(
    context: Context, intent: Delete, old: Entity | None, stored: WireItem | None
) -> WireWrite:
    spec = intent.ref.entity.__spec__
    expressions = Expressions()
    conditions = []
    if intent.must_exist:
        conditions.append(f"attribute_exists({expressions.name(spec.table.schema.partition)})")
    if old is not None:
        conditions += unchanged_guards(expressions, spec, old, stored, intent)
    conditions += expressions.unchanged(intent.carried, intent.carried)
    if intent.condition is not None:
        conditions.append(expressions.condition(intent.condition, spec))
    request = {
        "TableName": context.physical(spec.table.schema),
        "Key": intent.ref.wire(),
        **_guard(conditions, expressions),
    }
    return WireWrite("Delete", request, intent, refusal_of(intent, spec, old, stored))


def check_write(context: Context, intent: Check) -> WireWrite:
    spec = intent.ref.entity.__spec__
    expressions = Expressions()
    if intent.condition is None:
        text = f"attribute_exists({expressions.name(spec.table.schema.partition)})"
    else:
        text = expressions.condition(intent.condition, spec)
    request = {
        "TableName": context.physical(spec.table.schema),
        "Key": intent.ref.wire(),
        **_guard([text], expressions),
    }
    return WireWrite("ConditionCheck", request, intent, refusal_of(intent, spec, None, None))


def marker_write(context: Context, intent: Marker) -> WireWrite:
    request = {"TableName": context.physical(intent.table.schema), **intent.request}

    def refusal(item: WireItem | None) -> Exception:
        if intent.refusal is not None:
            return intent.refusal(item)
        return ConditionFailed("a support item's condition does not hold", item)

    return WireWrite(intent.action, request, intent, refusal)


def stamp_update(context: Context, intent: Update) -> Update:
    """The intent with version, timestamps and expiry among its changes."""
    spec = intent.ref.entity.__spec__
    if intent.stamps:
        stamped = spec.fields[intent.stamps]
        now = change.Set(in_one_form(stamped, context.now()))
        return replace(intent, changes={**intent.changes, intent.stamps: now})
    if intent.counting or (intent.changes and intent.changes.keys() <= spec.unversioned):
        return intent
    more: dict[str, Change] = {}
    if spec.version is not None and spec.version.name not in intent.changes:
        more[spec.version.name] = change.Add(1)
    if spec.updated is not None and spec.updated.name not in intent.changes:
        more[spec.updated.name] = change.Set(in_one_form(spec.updated, context.now()))
    mark = spec.ttl.mark(markers.Ttl) if spec.ttl is not None else None
    if mark is not None and spec.ttl is not None and mark.after in intent.changes:
        start = intent.changes[mark.after]
        expiry = expiry_of(context, spec, apply_changes({mark.after: start}, {}))
        end = change.clear if expiry is None else change.Set(in_one_form(spec.ttl, expiry))
        more[spec.ttl.name] = end
    return replace(intent, changes={**intent.changes, **more})


def index_fields_missing(spec: EntitySpec, intent: Update) -> list[str]:
    """Fields that an index key needs but that neither the changes nor the key provide."""
    missing: list[str] = []
    for placement in spec.placements.values():
        if not placement.fields & set(intent.changes):
            continue
        for field in sorted(placement.fields):
            given = intent.changes.get(field)
            settled = isinstance(given, change.Set | change.Clear) or field in intent.ref.values
            if not settled:
                missing.append(field)
    return missing


def _index_changes(
    spec: EntitySpec,
    intent: Update,
    new: Entity | None,
    key: WireItem,
    wire: WireItem | None,
) -> dict[str, WireItem | None]:
    """Whole index keys for every index that a change touches; None removes the item from an
    index.
    """
    plain = {n: c.value for n, c in intent.changes.items() if isinstance(c, change.Set)}
    values = {**intent.ref.values, **plain} if new is None else new.__dict__
    written: dict[str, WireItem | None] = {}
    kept: set[str] = set()
    changed = (spec.fields[name] for name in intent.changes)
    own = {field.attribute for field in changed if field.reader is None}
    for placement in spec.placements.values():
        touched = bool(placement.fields & set(intent.changes)) or intent.if_missing == "create"
        if new is not None and placement.applies(values):
            kept |= {a.attribute for a in placement.attributes}
        if not touched:
            continue
        if wire is not None and placement.applies(values):
            written.update({a.attribute: wire[a.attribute] for a in placement.attributes})
        elif placement.applies(values):
            written.update(placement.render(values))
        else:
            for attribute in placement.attributes:
                written.setdefault(attribute.attribute, None)
    # An attribute keeps its value if another index that still applies shares it, or if it is a
    # field of the item itself.
    kept |= spec.by_attribute.keys()
    return {
        name: value
        for name, value in written.items()
        if name not in key and name not in own and not (value is None and name in kept)
    }


def _guard(conditions: list[str], expressions: Expressions) -> WireItem:
    members: WireItem = {}
    if conditions:
        members["ConditionExpression"] = " AND ".join(conditions)
        members["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    return {**members, **expressions.placeholders()}


class _Actions(Clauses):
    """The clauses of changes to fields."""

    def change(self, spec: EntitySpec, field: str, one: Change) -> None:
        named = spec.fields[field]
        if named.reader is not None:
            return  # The index key that contains it is written as a whole.
        name = self._expressions.name(named.attribute)
        value = self._expressions.value
        encode = spec.encoders[field]
        if isinstance(one, change.Set):
            self._clauses["SET"].append(f"{name} = {value(encode(one.value))}")
        elif isinstance(one, change.Clear):
            self._clauses["REMOVE"].append(name)
        elif isinstance(one, change.Add):
            self._clauses["ADD"].append(f"{name} {value(encode(one.amount))}")
        elif isinstance(one, change.Remove):
            self._clauses["DELETE"].append(f"{name} {value(encode(one.elements))}")
        elif isinstance(one, change.Append):
            empty, more = value({"L": []}), value(encode(list(one.elements)))
            current = f"if_not_exists({name}, {empty})"
            self._clauses["SET"].append(f"{name} = list_append({current}, {more})")
        elif isinstance(one, change.FromField):
            self._clauses["SET"].append(f"{name} = {self._from_field(spec, one)}")
        elif isinstance(one, change.Inside):
            for each in one.changes:
                self._inside(spec, each)
        else:
            given = value(encode(one.value))
            self._clauses["SET"].append(f"{name} = if_not_exists({name}, {given})")

    def _from_field(self, spec: EntitySpec, source: FromField) -> str:
        path = self._expressions.path(source.path.operand, spec)
        plus = "" if source.plus is None else self._expressions.value(document(source.plus))
        return f"{path} + {plus}" if plus else path

    def _inside(self, spec: EntitySpec, each: PlacedChange) -> None:
        path = self._expressions.path(each.path.operand, spec)
        if each.verb == "remove":
            self._clauses["REMOVE"].append(path)
            return
        if each.verb == "copy":
            self._clauses["SET"].append(f"{path} = {self._from_field(spec, each.value)}")
            return
        value = self._expressions.value(document(each.value))
        if each.verb == "add":
            nothing = self._expressions.value({"N": "0"})
            value = f"if_not_exists({path}, {nothing}) + {value}"
        elif each.verb == "append":
            nothing = self._expressions.value({"L": []})
            value = f"list_append(if_not_exists({path}, {nothing}), {value})"
        elif each.verb == "set_if_absent":
            value = f"if_not_exists({path}, {value})"
        self._clauses["SET"].append(f"{path} = {value}")

    def default(self, attribute: str, wire: WireItem) -> None:
        name = self._expressions.name(attribute)
        value = self._expressions.value(wire)
        self._clauses["SET"].append(f"{name} = if_not_exists({name}, {value})")
