"""Describes reads for the schema: index, key condition, order, limit, budget."""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from keyfold.design import schema
from keyfold.design.condition import declared_condition
from keyfold.design.item_collection import Collection
from keyfold.design.parameter import Param
from keyfold.design.projection import check_projected
from keyfold.design.query import Count, Exists, First, Projected, Query
from keyfold.design.query_merge import Merge
from keyfold.design.read import Each, Get, GetMany, GetTogether
from keyfold.design.template import Literal, Slot, Template, apart, leading
from keyfold.errors import PlanError

if TYPE_CHECKING:
    from keyfold.design.pattern import Pattern


def describe(pattern: Pattern[Any, Any]) -> schema.PatternSchema:
    """The pattern as data, for checks, documents and cost."""
    common = schema.PatternSchema(
        name=pattern.name,
        entities=(),
        kind="get",
        table="",
        parameters=tuple(pattern.signature.parameters),
        requests=pattern.requests,
        description=pattern.description,
        place=pattern.place,
        silences=pattern.silences,
    )
    read: Any = pattern.read
    limit = _default(pattern, getattr(read, "size", None))
    if isinstance(read, Get):
        key = read.ref.entity.__spec__.key.templates
        return replace(
            common,
            entities=(read.ref.entity.__name__,),
            table=read.ref.entity.__table__.name,
            partition=key.partition,
            condition=schema.SortCondition("eq", key.sort) if key.sort else schema.SortCondition(),
            consistent=read.consistent_read,
        )
    if isinstance(read, GetMany | GetTogether):
        return _several(common, read)
    if isinstance(read, Query):
        return replace(_query(common, read), kind="query", paged=True, limit=limit)
    if isinstance(read, Projected):
        planned = replace(_query(common, read.query), kind="query", paged=True, limit=limit)
        return replace(planned, projection=read.view.fields)
    if isinstance(read, First):
        return replace(_query(common, read.query), kind="latest", limit=1)
    if isinstance(read, Count):
        return replace(_query(common, read.query), kind="count")
    if isinstance(read, Exists):
        return replace(_query(common, read.query), kind="exists", limit=1)
    if isinstance(read, Collection):
        return replace(_collection(common, read), limit=limit)
    assert isinstance(read, Merge), f"{type(read).__name__} is not a read"
    return replace(
        _source(common, read.queries[0]),
        kind="merge",
        entities=tuple(key.entity.__name__ for query in read.queries for key in query.keys),
        partitions=_partitions(read),
        max_partitions=_most_partitions(read),
        other_partitions=tuple(
            query.keys[0].declared.templates.partition for query in read.queries[1:]
        ),
        deduplicated=bool(read.unique),
        paged=True,
        limit=limit,
    )


def _several(
    common: schema.PatternSchema, read: GetMany[Any] | GetTogether[Any]
) -> schema.PatternSchema:
    first, *others = [ref.entity.__spec__.key.templates for ref in read.refs]
    lists = [ref.values[ref.spread].values for ref in read.refs if ref.spread]
    named = [one.name for one in lists if isinstance(one, Param)]
    return replace(
        common,
        entities=tuple(dict.fromkeys(ref.entity.__name__ for ref in read.refs)),
        at_once="batch" if isinstance(read, GetMany) else "together",
        table=read.refs[0].entity.__table__.name,
        partition=first.partition,
        other_partitions=tuple(key.partition for key in others),
        condition=schema.SortCondition("eq", first.sort) if first.sort else schema.SortCondition(),
        partitions=named[0] if named else "",
        max_partitions=None if lists else len(read.refs),
        consistent=True,
    )


def check_readable(read: Any) -> None:
    """Refuse to read fields that the index does not project, or several partitions at once."""
    _check_spread(read)
    _check_fields(read)


def _check_fields(read: Any) -> None:
    if isinstance(read, Query):
        check_projected(
            read.entity.__spec__, read.source.declared, tuple(read.entity.__spec__.fields)
        )
    elif isinstance(read, Projected):
        check_projected(read.view.spec, read.query.source.declared, read.view.fields)
    elif isinstance(read, First):
        _check_fields(read.query)
    elif isinstance(read, Merge):
        for query in read.queries:
            _check_fields(query)
    elif isinstance(read, Collection):
        for key in read.keys:
            check_projected(key.entity.__spec__, key.declared, tuple(key.entity.__spec__.fields))


def _check_spread(read: Any) -> None:
    """Refuse `each` outside a merge, or twice in a query."""
    if isinstance(read, Merge):
        for query in read.queries:
            if len([v for v in query.values.values() if isinstance(v, Each)]) > 1:
                raise PlanError("a query of a merge takes one each(...)")
        return
    query = getattr(read, "query", read)
    values = query.values if isinstance(query, Query | Collection) else {}
    if any(isinstance(value, Each) for value in values.values()):
        raise PlanError("each(...) stands for several partitions; put the query into merge(...)")


def _source(
    common: schema.PatternSchema, read: Query[Any] | Collection[Any]
) -> schema.PatternSchema:
    return _collection(common, read) if isinstance(read, Collection) else _query(common, read)


def _collection(common: schema.PatternSchema, read: Collection[Any]) -> schema.PatternSchema:
    span = read.span()
    condition = schema.SortCondition()
    if read.ranged is not None:
        condition = _condition(read.as_query())
    elif span is not None:
        condition = schema.SortCondition("between", span[0], upper=span[1])
    return replace(
        common,
        kind="collection",
        entities=tuple(dict.fromkeys(entity.__name__ for entity in read.entities)),
        table=read.entities[0].__table__.name,
        index=read.index,
        partition=read.keys[0].declared.templates.partition,
        condition=condition,
        descending=read.backwards,
        limit_parameter=read.size.name if isinstance(read.size, Param) else "",
        paged=True,
        consistent=read.consistent_read,
    )


def _query(common: schema.PatternSchema, query: Query[Any]) -> schema.PatternSchema:
    declared = query.source.declared
    return replace(
        common,
        entities=(query.entity.__name__,),
        table=query.entity.__table__.name,
        index=declared.index,
        partition=declared.templates.partition,
        condition=_condition(query),
        descending=query.backwards,
        limit_parameter=query.size.name if isinstance(query.size, Param) else "",
        consistent=query.consistent_read,
        filter=query.condition and declared_condition(query.condition),
    )


def _condition(query: Query[Any]) -> schema.SortCondition:
    sort = query.source.declared.templates.sort
    if sort is None:
        return schema.SortCondition()
    given = query.source.declared.templates.sorting(query.values)
    prefix = _cut(sort, set(given))
    if query.beginning is not None:
        return schema.SortCondition(
            "begins_with", _cut(sort, {*given, query.ranged or ""}, whole=False)
        )
    if query.ranged is not None:
        return schema.SortCondition(
            "between", prefix, _bound_schema(query.low), _bound_schema(query.high)
        )
    if len(prefix.parts) == len(sort.parts):
        return schema.SortCondition("eq", sort)
    return schema.SortCondition("begins_with", prefix) if prefix.parts else schema.SortCondition()


def _cut(template: Template, given: set[str], *, whole: bool = True) -> Template:
    """The template up to its first slot without a value, or up to the last slot with one."""
    if template.apart:
        pieces = [*takewhile(lambda piece: {*piece.fields} <= given, template.pieces)]
        if len(pieces) == len(template.pieces):
            return template
        return leading(pieces) if whole else apart(pieces)
    parts: list[Literal | Slot] = []
    for part in template.parts:
        if isinstance(part, Slot) and part.field not in given:
            break
        parts.append(part)
    if not whole and parts and isinstance(parts[-1], Literal):
        parts.pop()
    return Template(tuple(parts), template.escape)


def _bound_schema(side: tuple[Any, bool] | None) -> schema.Bound | None:
    if side is None:
        return None
    value, inclusive = side
    return schema.Bound(value.name if isinstance(value, Param) else repr(value), inclusive)


def _spread(read: Merge[Any]) -> list[Any]:
    return [v.values for q in read.queries for v in q.values.values() if isinstance(v, Each)]


def _partitions(read: Merge[Any]) -> str:
    """The parameter that lists the partitions."""
    return next((values.name for values in _spread(read) if isinstance(values, Param)), "")


def _most_partitions(read: Merge[Any]) -> int | None:
    """The number of queries of a merge, if no parameter decides it."""
    spread = _spread(read)
    if any(isinstance(values, Param) for values in spread):
        return None
    return len(read.queries) - len(spread) + sum(len(list(values)) for values in spread)


def _default(pattern: Pattern[Any, Any], size: Any) -> int | None:
    if isinstance(size, Param):
        default = pattern.signature.parameters[size.name].default
        return default if isinstance(default, int) else None
    return size if isinstance(size, int) else None
