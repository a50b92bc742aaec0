"""Query planning: from a read and its arguments to one wire request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from keyfold.design.entity import Entity
from keyfold.design.entity_spec import EntitySpec
from keyfold.design.item_collection import Collection
from keyfold.design.keys import Key
from keyfold.design.query import Query
from keyfold.design.read import resolve
from keyfold.design.template import HIGHEST
from keyfold.runtime.context import Context
from keyfold.runtime.expression import Expressions
from keyfold.runtime.ranges import NOTHING, Condition, narrow, sort_conditions

Request = dict[str, Any]


def query_request(
    context: Context,
    query: Query[Any],
    arguments: Mapping[str, Any],
    at: dict[str, str] | None = None,
    fields: Sequence[str] = (),
    *,
    counted: bool = False,
) -> Request | None:
    """The Query request without limit and start; None if the range is empty.

    `at` narrows it to a sort value onwards; `fields` limits the attributes. The items of a
    `counted` query are not read, so the backend leaves out a migration's copies.
    """
    declared = query.source.declared
    spec = query.entity.__spec__
    expressions = Expressions()
    given = {name: resolve(value, arguments) for name, value in query.values.items()}
    owner = f"{query.entity.__name__}.{declared.name}"
    clauses = _partition(declared, declared.with_derived(given), owner, expressions)
    sought = sort_conditions(query, arguments)
    if at is not None:
        # Merges use keys with one sort attribute.
        sought = [(n, narrow(c, at, backwards=query.backwards)) for n, c in sought]
    if any(condition == NOTHING for _, condition in sought):
        return None
    clauses += [_sort_text(expressions, *one) for one in sought if one[1][0]]
    request: Request = {
        "TableName": context.physical(spec.table.schema),
        "KeyConditionExpression": " AND ".join(clauses),
    }
    if declared.index is not None:
        request["IndexName"] = declared.index
    filters = _type_filter(spec, declared, expressions) + _expiry_filter(spec, context, expressions)
    if counted and declared.index is not None:
        filters += _home_filter(spec, declared, expressions)
    if query.condition is not None:
        filters.append(expressions.condition(query.condition, spec, arguments))
    if filters:
        request["FilterExpression"] = " AND ".join(filters)
    if fields:
        # Include the key, so that an undecodable item can be reported with it.
        wanted = [*(spec.fields[f].attribute for f in fields), *spec.table.schema.key_attributes]
        names = dict.fromkeys(map(expressions.name, wanted))
        request["ProjectionExpression"] = ", ".join(names)
    if query.backwards:
        request["ScanIndexForward"] = False
    if query.consistent_read:
        request["ConsistentRead"] = True
    request.update(expressions.placeholders())
    return request


def collection_request(
    context: Context,
    read: Collection[Any],
    arguments: Mapping[str, Any],
    at: dict[str, str] | None = None,
) -> Request | None:
    """One query over the sort-key span of the wanted entities, or over their range."""
    first: EntitySpec = read.entities[0].__spec__
    declared = read.keys[0].declared
    expressions = Expressions()
    given = {name: resolve(value, arguments) for name, value in read.values.items()}
    clauses = _partition(declared, declared.with_derived(given), first.name, expressions)
    low, high = "", HIGHEST
    sought: Condition = ("", ())
    span = read.span()
    if span is not None:
        low = span[0].literal_prefix
        high = span[1].literal_prefix + ("" if span[1].is_literal else HIGHEST)
        sought = ("BETWEEN", ({"S": low}, {"S": high}))
    if read.ranged is not None:
        # A range on a collection applies to the first sort field.
        [(_, sought), *_] = sort_conditions(read.as_query(), arguments)
    if at is not None:
        sought = narrow(sought, at, backwards=read.backwards)
    if sought == NOTHING:
        return None
    if sought[0]:
        clauses.append(_sort_text(expressions, declared.sort_attributes[0].attribute, sought))
    request: Request = {
        "TableName": context.physical(first.table.schema),
        "KeyConditionExpression": " AND ".join(clauses),
    }
    if read.index is not None:
        request["IndexName"] = read.index
    elif read.consistent_read:
        request["ConsistentRead"] = True
    between = [e for e in first.table.entities if _lies_between(e, declared, low, high)]
    type_attribute = first.table.schema.type_attribute
    if type_attribute is not None and set(between) - set(read.entities):
        name = expressions.name(type_attribute)
        wanted = [expressions.value({"S": e.__spec__.type_name}) for e in read.entities]
        request["FilterExpression"] = f"{name} IN ({', '.join(wanted)})"
    if read.backwards:
        request["ScanIndexForward"] = False
    request.update(expressions.placeholders())
    return request


def _partition(
    declared: Key[Any], values: Mapping[str, Any], owner: str, expressions: Expressions
) -> list[str]:
    """The partition key condition: one value for each of its attributes."""
    rendered = ((a.attribute, a.render(values, owner=owner)) for a in declared.partition_attributes)
    return [f"{expressions.name(name)} = {expressions.value(value)}" for name, value in rendered]


def _sort_text(expressions: Expressions, attribute: str, condition: Condition) -> str:
    operator, operands = condition
    name, values = expressions.name(attribute), [expressions.value(one) for one in operands]
    if operator == "begins_with":
        return f"begins_with({name}, {values[0]})"
    if operator == "BETWEEN":
        return f"{name} BETWEEN {values[0]} AND {values[1]}"
    return f"{name} {operator} {values[0]}"


def _home_filter(spec: EntitySpec, declared: Key, expressions: Expressions) -> list[str]:
    """The table's key is no key of the index, so a filter may name it."""
    own = {attribute.attribute for attribute in declared.attributes}
    return [
        f"{expressions.name(name)} = {expressions.value({'S': text.start})}"
        if text.whole
        else f"begins_with({expressions.name(name)}, {expressions.value({'S': text.start})})"
        for name, text in spec.home.texts
        if name not in own and text.start
    ]


def _type_filter(spec: EntitySpec, declared: Key, expressions: Expressions) -> list[str]:
    """A type filter, only where another entity can share the range."""
    type_attribute = spec.table.schema.type_attribute
    if type_attribute is None or not _shares_range(spec, declared, len(spec.table.entities)):
        return []
    return [f"{expressions.name(type_attribute)} = {expressions.value({'S': spec.type_name})}"]


@lru_cache(4096)
def _shares_range(spec: EntitySpec, declared: Key, _entities: int) -> bool:
    """Whether items of another entity can appear among those of this key.

    Called for every query; `_entities` invalidates the cached answer when the table gets another
    entity.
    """
    for other in spec.table.entities:
        if other is spec.entity:
            continue
        if any(_overlap(declared, key) for key in keys_on(other.__spec__, declared.index)):
            return True
    return False


def _overlap(ours: Key, theirs: Key) -> bool:
    if not _compatible(
        ours.templates.partition.literal_prefix, theirs.templates.partition.literal_prefix
    ):
        return False
    if ours.templates.sort is None or theirs.templates.sort is None:
        return True
    if ours.sort_attributes[0].type == "N":
        return True
    return _compatible(ours.templates.sort.literal_prefix, theirs.templates.sort.literal_prefix)


def _compatible(left: str, right: str) -> bool:
    """Whether a key with one prefix can also have the other.

    A prefix that ends in the delimiter is complete: `CRITERIA#` and `CRITERIA_COMBINED#` never
    overlap, nor do `ROOM` and `ROOM#`.
    """
    return left.startswith(right) or right.startswith(left)


def _lies_between(entity: type[Entity], declared: Key[Any], low: str, high: str) -> bool:
    """Whether items of an entity can appear in a span of this partition's sort keys."""
    for key in keys_on(entity.__spec__, declared.index):
        theirs, ours = key.templates, declared.templates.partition
        if not _compatible(theirs.partition.literal_prefix, ours.literal_prefix):
            continue
        prefix = theirs.sort.literal_prefix if theirs.sort else ""
        if low.encode() <= prefix.encode() <= high.encode() or _compatible(prefix, low):
            return True
    return False


def keys_on(spec: EntitySpec, index: str | None) -> list[Key[Any]]:
    """The keys of an entity in its table, or in an index."""
    if index is None:
        return [spec.key]
    return [placement for placement in spec.placements.values() if placement.index == index]


def _expiry_filter(spec: EntitySpec, context: Context, expressions: Expressions) -> list[str]:
    if spec.ttl is None:
        return []
    name = expressions.name(spec.ttl.attribute)
    now = expressions.value({"N": str(int(context.clock.now()))})
    return [f"(attribute_not_exists({name}) OR {name} > {now})"]
