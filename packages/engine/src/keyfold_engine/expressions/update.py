"""Updates as functions of an item, compiled once and cached.

Every value is computed from the item as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any

from keyfold_engine.errors import ValidationError
from keyfold_engine.expressions.ast import (
    Action,
    AddAction,
    Arithmetic,
    DeleteAction,
    Function,
    Operand,
    Path,
    Placeholder,
    Projection,
    RemoveAction,
    SetAction,
    UpdateActions,
    Value,
)
from keyfold_engine.expressions.charge import Charge
from keyfold_engine.expressions.evaluate import Values, resolve
from keyfold_engine.limits import NESTING_LEVELS
from keyfold_engine.values import AttributeValue, Item, number
from keyfold_engine.values.depth import levels
from keyfold_engine.values.key_order import in_set_order
from keyfold_engine.values.normal import NormalItem
from keyfold_engine.values.size import growth

_SETS = frozenset(("SS", "NS", "BS"))


class _WrongType(Exception):
    """An operand of a type that its operator does not support."""


class _Missing(Exception):
    """An operand that reads a missing attribute."""


# Computes the value that an action writes, from the old item and the request's values; None
# removes.
_Make = Callable[[Mapping[str, AttributeValue], Values], Any]


class UpdatePlan:
    """An update that can be applied to any item with any values of the types it was bound for."""

    __slots__ = (
        "_nested", "_steps", "_type_mismatch", "actions", "charge", "is_flat", "only_takes_away",
        "paths", "roots",
    )  # fmt: skip

    def __init__(self, update: UpdateActions) -> None:
        self.actions = update.actions
        self.paths: Projection = tuple([action.path for action in update.actions])
        self.roots = frozenset(path.root for path in self.paths)
        self.only_takes_away = bool(update.actions) and all(
            isinstance(action, (RemoveAction, DeleteAction)) for action in update.actions
        )
        self._steps = [(action.path, _made_by(action)) for action in update.actions]
        self._nested = [path for path in self.paths if len(path.parts) > 1]
        self.is_flat = not self._nested
        """Whether it is about whole attributes only."""
        self._type_mismatch = update.type_mismatch
        self.charge = Charge(update.actions)
        """What its statement costs."""

    def apply(self, item: Mapping[str, AttributeValue], values: Values) -> Item:
        """The updated item; the given one is unchanged."""
        new: Item = dict(item)
        appended: list[tuple[int, Path, AttributeValue]] = []
        removed_elements: list[Path] = []
        for path, value in self._writes(item, values):
            last = path.parts[-1]
            container: Any = new if len(path.parts) == 1 else _writable(new, path)
            if isinstance(last, int):
                if value is None:
                    if last < len(container):
                        removed_elements.append(path)
                elif last < len(container):
                    container[last] = value
                else:
                    appended.append((last, path, value))
            elif value is None:
                container.pop(last, None)
            else:
                container[last] = value
        # Elements beyond a list's end are added in the order of their indexes.
        for _, path, value in sorted(appended, key=itemgetter(0)):
            _writable(new, path).append(value)
        if removed_elements:
            # Indexes in REMOVE refer to positions before the update: remove inner and last ones
            # first.
            removed_elements.sort(key=lambda path: (len(path.parts), _index(path)), reverse=True)
            for path in removed_elements:
                del _writable(new, path)[_index(path)]
        return new

    def edit(self, item: Item, values: Values) -> int:
        """Apply a flat plan to the item itself; returns by how many bytes it grows.

        Raises, with the item unchanged, where `apply` would refuse.
        """
        made = [(path.root, make(item, values)) for path, make in self._steps]
        before = {root: item.get(root) for root, _ in made}
        for root, value in made:
            if value is None:
                item.pop(root, None)
            else:
                item[root] = value
        return growth(before, item, before)

    def _writes(self, item: Mapping[str, AttributeValue], values: Values) -> list[tuple[Path, Any]]:
        """The writes by path, or the error that DynamoDB reports first: types, paths, missing."""
        writes: list[tuple[Path, Any]] = []
        missing = False
        for path, make in self._steps:
            try:
                writes.append((path, make(item, values)))
            except _WrongType:
                raise ValidationError(self._type_mismatch) from None
            except _Missing:
                missing = True
        for path in self._nested:
            if not _reachable(path, item):
                raise ValidationError(
                    "The document path provided in the update expression is invalid for update"
                )
        if missing:
            raise ValidationError(
                "The provided expression refers to an attribute that does not exist in the item"
            )
        if self._nested or not isinstance(values, NormalItem):
            _refuse_deep(writes)
        return writes


def _refuse_deep(writes: list[tuple[Path, Any]]) -> None:
    """Refuse values that are valid by themselves but too deep where they are placed."""
    for path, value in writes:
        is_nested = value is not None and ("M" in value or "L" in value)
        if is_nested and len(path.parts) + levels(value) > NESTING_LEVELS:
            raise ValidationError("Nesting Levels have exceeded supported limits")


def _made_by(action: Action) -> _Make:
    match action:
        case SetAction(_, value):
            return _maker(value)
        case RemoveAction():
            return lambda _item, _values: None
        case AddAction(path, value):
            return _combining_maker(path, _maker(value), _add, if_missing=True)
        case DeleteAction(path, value):
            return _combining_maker(path, _maker(value), _delete, if_missing=False)


def _maker(value: Operand | Arithmetic) -> _Make:
    match value:
        case Value(content):
            return lambda _item, _values: content
        case Placeholder(text):
            return lambda _item, values: values[text]
        case Path():
            return _read(value)
        case Arithmetic(operator, left, right):
            first, second = _typed_maker("N", left), _typed_maker("N", right)
            combine = number.add if operator == "+" else number.subtract
            return lambda item, values: {"N": combine(first(item, values), second(item, values))}
        case Function("if_not_exists", (Path() as path, default)):
            return _read(path, otherwise=_maker(default))
        case Function("list_append", (left, right)):
            first, second = _typed_maker("L", left), _typed_maker("L", right)
            return lambda item, values: {"L": [*first(item, values), *second(item, values)]}
        case _:
            raise TypeError(f"not a bound value: {value!r}")


def _read(path: Path, otherwise: _Make | None = None) -> _Make:
    def make(item: Mapping[str, AttributeValue], values: Values) -> Any:
        found = resolve(path, item)
        if found is not None:
            return found
        if otherwise is None:
            raise _Missing
        return otherwise(item, values)

    return make


def _typed_maker(kind: str, operand: Operand) -> _Make:
    make_value = _maker(operand)

    def make(item: Mapping[str, AttributeValue], values: Values) -> Any:
        value = make_value(item, values)
        if kind not in value:
            raise _WrongType
        return value[kind]

    return make


def _combining_maker(
    path: Path,
    make_content: _Make,
    combine: Callable[[AttributeValue, AttributeValue], AttributeValue | None],
    *,
    if_missing: bool,
) -> _Make:
    def make(item: Mapping[str, AttributeValue], values: Values) -> Any:
        content = make_content(item, values)
        current = resolve(path, item)
        if current is None:
            return content if if_missing else None
        return combine(current, content)

    return make


def _index(path: Path) -> int:
    last = path.parts[-1]
    return last if isinstance(last, int) else -1


def _add(current: AttributeValue, content: AttributeValue) -> AttributeValue:
    kind = next(iter(content))
    if kind not in current:
        raise _WrongType
    if kind == "N":
        return {"N": number.add(current["N"], content["N"])}
    held = current[kind]
    if kind == "L":
        # The legacy ADD action appends to lists.
        return {kind: [*held, *content[kind]]}
    return {kind: in_set_order(kind, list({*held, *content[kind]}))}


def _delete(current: AttributeValue, content: AttributeValue) -> AttributeValue | None:
    kind = next(iter(content))
    if kind not in current:
        raise _WrongType
    gone = set(content[kind])
    left = [member for member in current[kind] if member not in gone]
    return {kind: left} if left else None


def _reachable(path: Path, item: Mapping[str, AttributeValue]) -> bool:
    """Whether everything before a path's last step exists and has the right type."""
    parent = resolve(Path(path.parts[:-1]), item)
    wanted = "L" if isinstance(path.parts[-1], int) else "M"
    return parent is not None and wanted in parent


def _writable(item: Item, path: Path) -> Any:
    """The container of a path's last step, copied down from the new root."""
    container: Any = item
    for part in path.parts[:-1]:
        value = container[part]
        kind = "L" if "L" in value else "M"
        fresh = value[kind].copy()
        container[part] = {kind: fresh}
        container = fresh
    return container
