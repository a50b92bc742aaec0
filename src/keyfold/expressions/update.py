"""Updates applied to items. Every value is worked out from the item as it was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from keyfold.errors import ValidationError
from keyfold.expressions.ast import (
    Action,
    Add,
    Arithmetic,
    Call,
    Delete,
    Operand,
    Path,
    Projection,
    Remove,
    Set,
    Update,
    Value,
)
from keyfold.expressions.evaluate import resolve
from keyfold.values import AttributeValue, Item, number

_SETS = frozenset(("SS", "NS", "BS"))


@dataclass(frozen=True, slots=True)
class Updated:
    """The item after an update; `touched` are all paths it named, `written` those with a value."""

    item: Item
    touched: Projection
    written: Projection


class _WrongType(Exception):
    """An operand of a type its operator cannot use."""


class _Missing(Exception):
    """An operand that reads an attribute the item does not have."""


# Where to write what; None removes.
_Write = tuple[Path, AttributeValue | None]


def apply(update: Update, item: Mapping[str, AttributeValue]) -> Updated:
    """The updated item; the given one stays as it is."""
    new: Item = dict(item)
    appended: list[tuple[int, Path, AttributeValue]] = []
    removed_elements: list[Path] = []
    written: list[Path] = []
    for path, value in _writes(update, item):
        last = path.parts[-1]
        container: Any = new if len(path.parts) == 1 else _writable(new, path)
        if isinstance(last, int):
            if value is None:
                if last < len(container):
                    removed_elements.append(path)
            elif last < len(container):
                container[last] = value
                written.append(path)
            else:
                appended.append((last, path, value))
        elif value is None:
            container.pop(last, None)
        else:
            container[last] = value
            written.append(path)
    # Elements beyond a list's end are added in the order of their indexes.
    for _, path, value in sorted(appended, key=itemgetter(0)):
        container = _writable(new, path)
        written.append(Path((*path.parts[:-1], len(container))))
        container.append(value)
    # Indexes in REMOVE mean the positions before the update: take the inner and last out first.
    removed_elements.sort(key=lambda path: (len(path.parts), _index(path)), reverse=True)
    for path in removed_elements:
        del _writable(new, path)[_index(path)]
    touched = tuple([action.path for action in update.actions])
    if removed_elements:
        written = [_moved(path, removed_elements) for path in written]
    return Updated(new, touched, tuple(written))


def _moved(path: Path, removed: list[Path]) -> Path:
    """Where a path leads once elements before it were taken out of their lists."""
    parts = list(path.parts)
    for gone in removed:
        at = len(gone.parts) - 1
        same_list = path.parts[:at] == gone.parts[:at] and len(path.parts) > at
        if same_list and _index(Path(path.parts[: at + 1])) > _index(gone):
            parts[at] = int(str(parts[at])) - 1
    return Path(tuple(parts))


def _index(path: Path) -> int:
    last = path.parts[-1]
    return last if isinstance(last, int) else -1


def _writes(update: Update, item: Mapping[str, AttributeValue]) -> list[_Write]:
    """What to write where, or the first complaint in DynamoDB's order: types, paths, missing."""
    writes: list[_Write] = []
    missing = False
    for action in update.actions:
        try:
            write = _write(action, item)
        except _WrongType:
            raise ValidationError(update.type_mismatch) from None
        except _Missing:
            missing = True
            continue
        if write is not None:
            writes.append(write)
    for action in update.actions:
        if len(action.path.parts) > 1 and not _reachable(action.path, item):
            raise ValidationError(
                "The document path provided in the update expression is invalid for update"
            )
    if missing:
        raise ValidationError(
            "The provided expression refers to an attribute that does not exist in the item"
        )
    return writes


def _write(action: Action, item: Mapping[str, AttributeValue]) -> _Write | None:
    match action:
        case Set(path, value):
            return path, _assigned(value, item)
        case Remove(path):
            return path, None
        case Add(path, Value(content)):
            current = resolve(path, item)
            return path, content if current is None else _added(current, content)
        case Delete(path, Value(content)):
            current = resolve(path, item)
            return None if current is None else (path, _deleted(current, content))
        case _:
            raise TypeError(f"not a bound action: {action!r}")


def _assigned(value: Operand | Arithmetic, item: Mapping[str, AttributeValue]) -> AttributeValue:
    match value:
        case Value(content):
            return content
        case Path():
            found = resolve(value, item)
            if found is None:
                raise _Missing
            return found
        case Arithmetic(operator, left, right):
            a, b = _typed("N", left, item), _typed("N", right, item)
            combine = number.add if operator == "+" else number.subtract
            return {"N": combine(a, b)}
        case Call("if_not_exists", (Path() as path, default)):
            existing = resolve(path, item)
            return _assigned(default, item) if existing is None else existing
        case Call("list_append", (first, second)):
            return {"L": [*_typed("L", first, item), *_typed("L", second, item)]}
        case _:
            raise TypeError(f"not a bound value: {value!r}")


def _typed(kind: str, operand: Operand, item: Mapping[str, AttributeValue]) -> Any:
    value = _assigned(operand, item)
    if kind not in value:
        raise _WrongType
    return value[kind]


def _added(current: AttributeValue, content: AttributeValue) -> AttributeValue:
    kind = next(iter(content))
    if kind not in current:
        raise _WrongType
    if kind == "N":
        return {"N": number.add(current["N"], content["N"])}
    # Sets in ADD; the legacy ADD action also appends to lists.
    held = current[kind]
    fresh = content[kind] if kind == "L" else [one for one in content[kind] if one not in held]
    return {kind: [*held, *fresh]}


def _deleted(current: AttributeValue, content: AttributeValue) -> AttributeValue | None:
    kind = next(iter(content))
    if kind not in current:
        raise _WrongType
    left = [member for member in current[kind] if member not in content[kind]]
    return {kind: left} if left else None


def _reachable(path: Path, item: Mapping[str, AttributeValue]) -> bool:
    """Whether everything before a path's last step is there and of the right kind."""
    parent = resolve(Path(path.parts[:-1]), item)
    wanted = "L" if isinstance(path.parts[-1], int) else "M"
    return parent is not None and wanted in parent


def _writable(item: Item, path: Path) -> Any:
    """The container that a path's last step is in, copied down from the (already new) root."""
    container: Any = item
    for part in path.parts[:-1]:
        value = container[part]
        kind = "L" if "L" in value else "M"
        fresh = value[kind].copy()
        container[part] = {kind: fresh}
        container = fresh
    return container
