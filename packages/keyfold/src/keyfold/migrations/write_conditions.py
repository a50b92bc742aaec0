"""Requests that write an item only if it is still what the write was computed from."""

from __future__ import annotations

from typing import Final

from keyfold.migrations.backend import Item

ABSENT: Final = "attribute_not_exists(#key)"
PRESENT: Final = "attribute_exists(#key)"


def absent(key: Item) -> Item:
    """The condition that no item exists."""
    return {"ConditionExpression": ABSENT, "ExpressionAttributeNames": {"#key": next(iter(key))}}


def unchanged(item: Item, key: Item) -> Item:
    """The condition that an item is unchanged, as far as a condition can express."""
    names, values, conditions = {"#key": next(iter(key))}, {}, ["attribute_exists(#key)"]
    for number, (name, wire) in enumerate(sorted(item.items())[:20]):
        if name not in key and len(str(wire)) < 200:
            names[f"#n{number}"], values[f":b{number}"] = name, wire
            conditions.append(f"#n{number} = :b{number}")
    request: Item = {
        "ConditionExpression": " AND ".join(conditions),
        "ExpressionAttributeNames": names,
    }
    return {**request, "ExpressionAttributeValues": values} if values else request


def difference(item: Item, changed: Item, key: Item) -> Item:
    """An update from one to the other, if the changed attributes are unchanged."""
    names: dict[str, str] = {"#key": next(iter(key))}
    values: Item = {}
    sets, removes, conditions = [], [], ["attribute_exists(#key)"]
    for number, name in enumerate(sorted(item.keys() | changed.keys())):
        before, after = item.get(name), changed.get(name)
        if before == after or name in key:
            continue
        placeholder = f"#n{number}"
        names[placeholder] = name
        if before is None:
            conditions.append(f"attribute_not_exists({placeholder})")
        else:
            values[f":b{number}"] = before
            conditions.append(f"{placeholder} = :b{number}")
        if after is None:
            removes.append(placeholder)
        else:
            values[f":a{number}"] = after
            sets.append(f"{placeholder} = :a{number}")
    clauses = [f"SET {', '.join(sets)}"] * bool(sets)
    clauses += [f"REMOVE {', '.join(removes)}"] * bool(removes)
    request: Item = {
        "UpdateExpression": " ".join(clauses),
        "ConditionExpression": " AND ".join(conditions),
        "ExpressionAttributeNames": names,
    }
    return {**request, "ExpressionAttributeValues": values} if values else request
