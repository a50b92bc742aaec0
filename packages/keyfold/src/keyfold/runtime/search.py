"""Searches: the nearest neighbours of a vector, with their scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keyfold.design.codec import document, encoder
from keyfold.design.nearest import Nearest, Neighbour
from keyfold.design.read import resolve
from keyfold.design.vector import Vector
from keyfold.errors import PlanError
from keyfold.runtime.context import Context
from keyfold.runtime.expression import Expressions
from keyfold.runtime.flow import Call, Flow
from keyfold.runtime.query import Request
from keyfold.runtime.recognition import is_expired
from keyfold.runtime.undecodable import complain, decode_all


def search(
    context: Context, wanted: Nearest[Any], arguments: Mapping[str, Any], size: int
) -> Flow[list[Neighbour[Any]]]:
    """Search for neighbours; expired items are left out."""
    spec = wanted.entity.__spec__
    request = search_request(context, wanted, arguments, size)
    answer = yield Call("SearchVectors", request)
    if not all(spec.home.holds(one["Item"]) for one in answer["SearchResults"]):
        # A migration is copying: every item may be there twice, with one score.
        answer = yield Call("SearchVectors", {**request, "TopK": 2 * size})
    own = [one for one in answer["SearchResults"] if spec.home.holds(one["Item"])][:size]
    found = [one for one in own if not is_expired(context, spec, one["Item"])]
    decode = (wanted.view or spec).decode
    good, wrong = decode_all(
        context.on_undecodable,
        lambda one: Neighbour(decode(one["Item"]), float(one["Score"])),
        found,
    )
    complain(wrong, good)
    return good


def search_request(
    context: Context, wanted: Nearest[Any], arguments: Mapping[str, Any], size: int
) -> Request:
    """The SearchVectors request."""
    spec = wanted.entity.__spec__
    vector = next(one for one in spec.fields.values() if one.attribute == wanted.index.attribute)
    sought = resolve(wanted.vector, arguments)
    try:
        vector.mark(Vector).checked(sought)
    except (TypeError, ValueError) as problem:
        raise PlanError(f"{spec.name}.{vector.name}: {problem}") from None
    expressions = Expressions()
    conditions = []
    for name, value in wanted.given.items():
        field = spec.fields[name]
        operand = expressions.value(encoder(field)(resolve(value, arguments)))
        conditions.append(f"{expressions.name(field.attribute)} = {operand}")
    kinds = spec.table.schema.type_attribute
    if kinds is not None:
        operand = expressions.value({"S": spec.type_name})
        conditions.append(f"{expressions.name(kinds)} = {operand}")
    fields = wanted.view.fields if wanted.view else tuple(spec.fields)
    # A search returns the vector only if it is named.
    read = [*(spec.fields[name].attribute for name in fields), *spec.table.schema.key_attributes]
    read += [spec.ttl.attribute] if spec.ttl is not None else []
    request: Request = {
        "TableName": context.physical(spec.table.schema),
        "IndexName": wanted.index.name,
        "SearchVector": document(list(sought))["L"],
        "TopK": size,
        "ProjectionExpression": ", ".join(dict.fromkeys(map(expressions.name, read))),
    }
    if conditions:
        request["SearchConditionExpression"] = " AND ".join(conditions)
    request.update(expressions.placeholders())
    return request
