"""Changes inside a field: a field of a nested model, an entry of a map, an element of a list."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel
from pydantic import ValidationError as Invalid

from keyfold.design.codec import is_absent
from keyfold.design.entity_spec import EntitySpec
from keyfold.design.field_kind import unwrap
from keyfold.design.path_change import FieldPath, PathChange, Verb
from keyfold.design.recorder import record_path
from keyfold.design.validation import complaints, in_one_line, read_validators
from keyfold.errors import PlanError, ValueRefused
from keyfold.runtime import changes as change
from keyfold.runtime.changes import FromField, Inside, PlacedChange, check_of, total

E = TypeVar("E")
T = TypeVar("T")


class PathChanges:
    """`at.set(lambda order: order.address.city, "Oslo")` changes one path and leaves the rest."""

    @staticmethod
    def set(path: Callable[[E], T], value: T) -> PathChange[E]:
        """Set the value at this path."""
        return PathChange(path, "set", value)

    @staticmethod
    def set_if_absent(path: Callable[[E], T], value: T) -> PathChange[E]:
        """Set the value at this path unless there is one."""
        return PathChange(path, "set_if_absent", value)

    @staticmethod
    def add(path: Callable[[E], T], amount: T) -> PathChange[E]:
        """Add to the number at this path; a missing one counts as zero."""
        return PathChange(path, "add", amount)

    @staticmethod
    def append(path: Callable[[E], list[T]], elements: Iterable[T]) -> PathChange[E]:
        """Append to the list at this path."""
        return PathChange(path, "append", list(elements))

    @staticmethod
    def remove(path: Callable[[E], object]) -> PathChange[E]:
        """Remove the entry, element or value at this path."""
        return PathChange(path, "remove")

    @staticmethod
    def copy(
        path: Callable[[E], T], source: Callable[[E], T], *, plus: Any = None
    ) -> PathChange[E]:
        """Copy the value of another path at the time of the write, plus an amount."""
        return PathChange(path, "copy", (source, plus))


at = PathChanges


def changes_by_field(spec: EntitySpec, given: Iterable[PathChange[Any]]) -> dict[str, Any]:
    """The changes grouped by field: paths inside one field together, whole fields as usual."""
    whole: dict[str, Any] = {}
    inside: dict[str, list[PlacedChange]] = {}
    for one in given:
        if not isinstance(one, PathChange):
            raise PlanError(
                f"update takes the item or its address, then changes by name or at.set(...), not "
                f"{one!r}"
            )
        path, annotation, models = record_path(one.path, spec.entity)
        value = _value(spec, one, path, annotation)
        if path.field in spec.key.address:
            raise PlanError(
                f"{spec.name}.{path.field} is part of the primary key; use db.move to change it"
            )
        if len(path.names) == 1:
            whole[path.field] = _whole(one.verb, value)
            continue
        checked = any(_is_checked(model) for model in models)
        inside.setdefault(path.field, []).append(PlacedChange(path, one.verb, value, checked))
    both = sorted(whole.keys() & inside.keys())
    if both:
        raise PlanError(f"{both[0]} changes both as a whole and inside; do only one")
    return whole | {name: Inside(tuple(several)) for name, several in inside.items()}


def _value(spec: EntitySpec, one: PathChange[Any], path: FieldPath, annotation: Any) -> Any:
    if one.verb == "remove":
        return None
    if one.verb == "copy":
        source, plus = one.value
        found, theirs, _ = record_path(source, spec.entity)
        if unwrap(theirs)[0] != unwrap(annotation)[0]:
            raise PlanError(f"{spec.name}.{path} is not of the type of {found}, its source")
        if spec.fields[path.field].codec != spec.fields[found.field].codec:
            raise PlanError(f"{spec.name}.{path} is not stored as {found}, its source")
        return FromField(found, plus)
    if len(path.names) == 1:
        return one.value  # The field itself is validated.
    try:
        return check_of(annotation)(one.value)
    except Invalid as problem:
        text = in_one_line(complaints(problem))
        raise ValueRefused(
            f"{spec.name}.{path}={one.value!r} is refused: {text}", {path.field: text}
        ) from None


def _whole(verb: Verb, value: Any) -> Any:
    if verb == "add":
        return change.add(value)
    if verb == "append":
        return change.append(value)
    if verb == "set_if_absent":
        return change.set_if_absent(value)
    return change.clear if verb == "remove" else value


def _is_checked(model: type[BaseModel]) -> bool:
    found = read_validators(model)
    return found.whole or bool(found.fields)


def apply_inside(one: Inside, values: Mapping[str, Any]) -> Any:
    """The field's value after the changes inside it; list positions refer to the old value."""
    ordered = sorted(one.changes, key=lambda c: (c.verb == "remove", _backwards(c.path)))
    value = values[ordered[0].path.field]
    for each in ordered:
        value = _change_at(value, each.path.names[1:], each, values)
    return value


def _backwards(path: FieldPath) -> tuple[Any, ...]:
    """Later list positions first, so that removing one does not shift another."""
    return tuple((0, -name, "") if isinstance(name, int) else (1, 0, name) for name in path.names)


def _change_at(
    value: Any, names: tuple[str | int, ...], each: PlacedChange, values: Mapping[str, Any]
) -> Any:
    name, *rest = names
    goes = not rest and each.verb == "remove"

    def changed(inner: Any) -> Any:
        return _change_at(inner, tuple(rest), each, values) if rest else _leaf(inner, each, values)

    if isinstance(value, BaseModel):
        return value.model_copy(update={str(name): changed(getattr(value, str(name)))})
    if isinstance(value, Mapping):
        others = {one: inner for one, inner in value.items() if one != name or not goes}
        return others if goes else {**others, name: changed(value.get(name))}
    if isinstance(value, list | tuple) and isinstance(name, int):
        inner = value[name] if name < len(value) else None
        return [*value[:name], *([] if goes else [changed(inner)]), *value[name + 1 :]]
    raise ValueRefused(
        f"{each.path} cannot change: its parent has no value",
        {each.path.field: "is None"},
    )


def _leaf(old: Any, each: PlacedChange, values: Mapping[str, Any]) -> Any:
    if each.verb == "add":
        return total(old or 0, each.value)
    if each.verb == "append":
        return [*(old or ()), *each.value]
    if each.verb == "set_if_absent":
        return each.value if old is None else old
    if each.verb == "copy":
        return copied_value(each.value, values)
    return None if each.verb == "remove" else each.value


def copied_value(source: FromField, values: Mapping[str, Any]) -> Any:
    """The value of another path, plus an amount."""
    found = _value_at(values, source.path)
    return found if source.plus is None or found is None else total(found, source.plus)


def _value_at(values: Mapping[str, Any], path: FieldPath) -> Any:
    """The value at a path, or None."""
    found: Any = values.get(path.field)
    for name in path.names[1:]:
        if found is None:
            return None
        if isinstance(found, Mapping):
            found = found.get(name)
        elif isinstance(name, int):
            found = found[name] if isinstance(found, list | tuple) and name < len(found) else None
        else:
            found = getattr(found, name, None)
    return None if is_absent(found) else found
