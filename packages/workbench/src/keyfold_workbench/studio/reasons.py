"""Why an access pattern reads as it does, and what its request is before it runs."""

from __future__ import annotations

from collections.abc import Iterator

from keyfold.design.condition import condition_text
from keyfold.design.schema import PatternSchema, SearchSchema
from keyfold.prices import prices
from keyfold.review.docs.requests import read_units, request, search_request
from keyfold_workbench.studio.declaration import declaration
from keyfold_workbench.studio.likeness import index_of
from keyfold_workbench.studio.markup import Child, Html, el, text
from keyfold_workbench.studio.notation import plural
from keyfold_workbench.studio.parts import fields, panel
from keyfold_workbench.studio.view import PageView

AccessPattern = PatternSchema | SearchSchema
OPERATORS = {"eq": "is", "lt": "before", "le": "up to", "gt": "after", "ge": "from"}


def entities_of(chosen: AccessPattern) -> tuple[str, ...]:
    return (chosen.entity,) if isinstance(chosen, SearchSchema) else chosen.entities


def price_words(view: PageView, chosen: AccessPattern) -> str:
    """What one call takes, before it runs."""
    if isinstance(chosen, SearchSchema):
        return "priced by bytes"
    taken, each, what = read_units(view.system.schema, chosen).partition(" for each ")
    return f"{taken} {'unit' if taken == '1' else 'units'}{each}{what}"


def request_text(view: PageView, chosen: AccessPattern) -> str:
    schema = view.system.schema
    if isinstance(chosen, SearchSchema):
        return search_request(schema, chosen)
    return request(schema, chosen)


def why(view: PageView, chosen: AccessPattern) -> Html:
    """The reasons as a panel."""
    if isinstance(chosen, SearchSchema):
        told = [*_search_reasons(view, chosen)]
    else:
        told = [*_read_reasons(view, chosen)]
    if chosen.place.file:
        told.append(("Declared", declaration(view.system, chosen.place, chosen.name)))
    return panel("Why it is like this", fields(told, pad=True))


def _search_reasons(view: PageView, chosen: SearchSchema) -> Iterator[tuple[Child, Child]]:
    index = index_of(view.system, chosen)
    yield "Searches", text(chosen.table, ", the vector index ", el("code", chosen.index))
    if index is not None:
        distance = index.distance.replace("_", " ")
        nearer = "larger" if index.distance == "dot_product" else "smaller"
        yield "Distance", f"{distance} of {index.dimensions:,} numbers; a {nearer} score is nearer"
        if index.within:
            says = ": each of its values is searched, and paid for, apart"
            yield "Within", text(el("code", index.within), says)
        else:
            yield "Within", "all items of the index: each search looks at every one"
        if index.filters:
            yield "Filters", ", ".join(index.filters)
    yield "Neighbours", str(chosen.limit or f"as {chosen.limit_parameter or 'the call'} says")
    yield "Consistency", "eventual: a vector index follows its table"
    yield (
        "Paid",
        f"by the bytes of the entries it reads, ${prices().vector_search:g} a gigabyte",
    )


def _read_reasons(view: PageView, chosen: PatternSchema) -> Iterator[tuple[Child, Child]]:
    entity = view.system.entity(chosen.entities[0]) if chosen.entities else None
    through = f"{chosen.table}, through {chosen.index}" if chosen.index else chosen.table
    if chosen.partition is not None and entity is not None:
        yield "Reads", text(through, ", partition ", view.template(entity, chosen.partition))
    else:
        yield "Reads", through
    asked = chosen.condition
    if asked.operator != "none" and entity is not None:
        words = OPERATORS.get(asked.operator, asked.operator.replace("_", " "))
        yield "Range", text("sort key ", words, " ", view.template(entity, asked.template))
    if chosen.filter is not None:
        says = "after reading: what it removes is paid for"
        yield "Filter", text(el("code", condition_text(chosen.filter)), f", {says}")
    if chosen.index is not None:
        yield "Consistency", "eventual: a global index follows its table"
    else:
        consistent = "consistent" if chosen.consistent else "eventual; consistent costs twice"
        yield "Consistency", consistent
    if chosen.kind == "merge":
        yield "Merge", f"one request for each of {chosen.partitions or 'its parts'}"
    copy = entity.copy if entity is not None else None
    if copy is not None and entity is not None:
        says = f"carries {plural(len(copy.fields), 'field')} of {copy.of}: no canonical is read"
        yield "Copies", text(view.chip(entity.name), " ", says)
    if chosen.requests:
        asked_for = plural(chosen.requests, "request")
        says = f"{asked_for}, enforced when it runs; one more raises BudgetExceeded"
        yield "Budget", says
