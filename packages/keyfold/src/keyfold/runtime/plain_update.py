"""Updates that only set values: what does not depend on the item is worked out once.

An update is plain if nothing follows from the fields that it sets: no index key, no maintained
structure, no validator that looks at more than one of them. Its request is rendered once for an
entity and its fields, all but the values. Everything else goes the general way, and so does a value
that is refused: the general way explains it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic import ValidationError as Invalid

from keyfold.design.address import Ref
from keyfold.design.codec import UNSTORABLE
from keyfold.design.entity import Entity
from keyfold.design.entity_spec import EntitySpec
from keyfold.design.markers import AtMost, Normalised, Ttl
from keyfold.errors import ConditionFailed, NotFound, VersionConflict
from keyfold.runtime.arguments import ref_of
from keyfold.runtime.changes import OPERATIONS, in_one_form, validator
from keyfold.runtime.context import Context
from keyfold.runtime.expansion import CHANGED
from keyfold.runtime.expression import Expressions
from keyfold.runtime.flow import Call, Flow

_MOST_PLANS: Final = 4096
"""Callers may choose the fields, and their order."""


class PlainUpdate:
    """The request that sets these fields, without its values."""

    __slots__ = ("_constant", "_fixed", "_guard", "_spec", "_stamp", "_steps")

    def __init__(self, spec: EntitySpec, names: tuple[str, ...], *, guarded: bool) -> None:
        expressions, self._spec = Expressions(), spec
        conditions = [f"attribute_exists({expressions.name(spec.table.schema.partition)})"]
        stamped = not spec.unversioned.issuperset(names)
        version = updated = ""
        if spec.version is not None and (guarded or stamped):
            version = expressions.name(spec.version.attribute)
        self._guard = expressions.value({}) if guarded else ""
        conditions += [f"{version} = {self._guard}"] if guarded else []
        sets, self._steps = [], []
        for name in names:
            field, mark = spec.fields[name], expressions.value({})
            sets.append(f"{expressions.name(field.attribute)} = {mark}")
            formed = field if field.mark(Normalised) or field.kind == "timestamp" else None
            check = validator(spec.entity, name, False)
            self._steps.append((name, mark, check, formed, spec.encoders[name]))
        more = f" ADD {version} {expressions.value({'N': '1'})}" if version and stamped else ""
        if spec.updated is not None and stamped:
            updated = expressions.value({})
            sets.append(f"{expressions.name(spec.updated.attribute)} = {updated}")
        self._stamp = updated
        self._fixed = {mark: value for mark, value in expressions.values.items() if value}
        self._constant = {
            "UpdateExpression": f"SET {', '.join(sets)}{more}",
            "ConditionExpression": " AND ".join(conditions),
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
            "ExpressionAttributeNames": expressions.placeholders()["ExpressionAttributeNames"],
            "ReturnValues": "ALL_NEW",
        }

    def request(
        self, context: Context, key: dict[str, Any], version: Any, given: Mapping[str, Any]
    ) -> dict[str, Any] | None:
        """The request with these values; None where the general way has to look at them."""
        spec = self._spec
        values = dict(self._fixed)
        if self._guard:
            assert spec.version is not None, "a guard compares the version"
            if version == spec.entity.model_fields[spec.version.name].default:
                return None
            values[self._guard] = {"N": str(version)}
        try:
            for name, mark, check, formed, encode in self._steps:
                value = given[name]
                if value is None or isinstance(value, OPERATIONS):
                    return None
                value = check(value)
                values[mark] = encode(value if formed is None else in_one_form(formed, value))
        except (Invalid, *UNSTORABLE):
            return None
        if self._stamp and spec.updated is not None:
            now = in_one_form(spec.updated, context.now())
            values[self._stamp] = spec.encoders[spec.updated.name](now)
        table = context.physical(spec.table.schema)
        return {
            "TableName": table,
            "Key": key,
            **self._constant,
            "ExpressionAttributeValues": values,
        }


def plain_update(context: Context, target: Any, given: Mapping[str, Any]) -> Flow[Any] | None:
    """The update by one request; None if it has to go the general way."""
    context.design.complete()
    ref = ref_of(target)
    spec: EntitySpec = ref.entity.__spec__
    version = None
    if spec.version is not None and isinstance(target, Entity):
        version = getattr(target, spec.version.name)
    plan = _plan(context, spec, tuple(given), guarded=version is not None)
    request = None if plan is None else plan.request(context, ref.wire(), version, given)
    return None if request is None else _send(ref, request)


def _send(ref: Ref[Any], request: dict[str, Any]) -> Flow[Any]:
    try:
        answer = yield Call("UpdateItem", request)
    except ConditionFailed as failed:
        if failed.item is None:
            raise NotFound(f"{ref} does not exist") from failed
        raise VersionConflict(CHANGED.format(ref)) from failed
    return ref.entity.__spec__.decode(answer["Attributes"])


def _plan(
    context: Context, spec: EntitySpec, names: tuple[str, ...], *, guarded: bool
) -> PlainUpdate | None:
    found, key = context.design.worked_out, (spec, guarded, names)
    if key not in found:
        if len(found) > _MOST_PLANS:
            found.clear()
        plain = _is_plain(spec, names)
        found[key] = PlainUpdate(spec, names, guarded=guarded) if plain else None
    plan: PlainUpdate | None = found[key]
    return plan


def _is_plain(spec: EntitySpec, names: tuple[str, ...]) -> bool:
    """Whether nothing follows from these fields, and each is checked alone."""
    if not names or not spec.fields.keys() >= {*names}:
        return False
    stamps = {field.name for field in (spec.version, spec.updated) if field is not None}
    touched = {*names, *stamps}
    derived = {name for placement in spec.placements.values() for name in placement.fields}
    for maintainer in spec.table.design.maintainers:
        if maintainer.source is spec.entity:
            derived |= maintainer.fields
            if maintainer.steady(frozenset(touched)):
                return False
    mark = None if spec.ttl is None else spec.ttl.mark(Ttl)
    expiring = set() if mark is None else {mark.after}
    closed = spec.fixed | spec.kept | spec.validators.fields | {*spec.key.address, *spec.states}
    fields = [spec.fields[name] for name in names]
    return not (
        spec.copy
        or spec.validators.whole
        or touched & derived
        or (closed | stamps | expiring) & {*names}
        or any(f.reader or f.kind.endswith("_set") or f.mark(AtMost) for f in fields)
    )
