"""SearchVectors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson

from keyfold_engine.engine.catalog import Catalog
from keyfold_engine.engine.database import Database
from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.tables import TableDefinition
from keyfold_engine.errors import ValidationError, empty_key
from keyfold_engine.expressions.ast import And, Compare, Condition, Path, Projection, Value
from keyfold_engine.expressions.bind import Placeholders
from keyfold_engine.expressions.projection import project
from keyfold_engine.features.vectors import entries, numbers
from keyfold_engine.features.vectors.cache import VectorPartitions
from keyfold_engine.features.vectors.index import VectorIndex, vector_indexes
from keyfold_engine.features.vectors.partition import ScoredRow, StoredVector
from keyfold_engine.limits import SEARCH_ANSWER_BYTES, SEARCH_NEIGHBOURS, VECTOR_REQUEST_BYTES
from keyfold_engine.values import AttributeValue, Item

_PARAMETER = "SearchConditionExpression"

# Compared paths, each with its value.
Terms = list[tuple[Path, AttributeValue]]


def search_vectors(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    most: int = request["TopK"]
    if most > SEARCH_NEIGHBOURS:
        raise ValidationError(
            f"Provided TopK value '{most}' is out of valid range. The value must be between 1 and "
            f"{SEARCH_NEIGHBOURS} inclusive"
        )
    terms, projection = _expressions(request)
    with database.snapshot() as session:
        table = database.catalog.get(session, request["TableName"])
        table, index = _index(database.catalog, session, table, request["IndexName"])
        _check_served(database, index)
        query = _query(index, request["SearchVector"])
        wanted = _wanted(index, terms)
        found, examined = _search(database, session, table, index, query, most, wanted)
        results = _results(session, table, index, found, projection)
    answer: dict[str, Any] = {"SearchResults": results}
    if request.get("ReturnConsumedCapacity") in ("TOTAL", "INDEXES"):
        size = float(max(VECTOR_REQUEST_BYTES, examined))
        answer["ConsumedCapacity"] = {"VectorSearchRequestBytes": size}
    return answer


def _expressions(request: dict[str, Any]) -> tuple[Terms | None, Projection | None]:
    placeholders = Placeholders.with_literals(
        request.get("ExpressionAttributeNames"), request.get("ExpressionAttributeValues")
    )
    terms = projection = None
    if (text := request.get(_PARAMETER)) is not None:
        terms = list(_terms(placeholders.condition(text, _PARAMETER)))
    if (text := request.get("ProjectionExpression")) is not None:
        projection = placeholders.projection(text)
    placeholders.check_used()
    return terms, projection


def _terms(condition: Condition) -> Iterator[tuple[Path, AttributeValue]]:
    """The comparisons of a condition: only equality, joined by AND."""
    match condition:
        case And(terms):
            for term in terms:
                yield from _terms(term)
        case Compare("=", Path() as path, Value(content)) | Compare(
            "=", Value(content), Path() as path
        ):
            yield path, content
        case _:
            raise ValidationError(f"Invalid {_PARAMETER}: Invalid comparator used in {_PARAMETER}")


def _index(
    catalog: Catalog, session: Session, table: TableDefinition, name: str
) -> tuple[TableDefinition, VectorIndex]:
    """The index of that name, and the table that has it."""
    for current in (table, catalog.load(session, table.name) or table):
        for index in vector_indexes(current):
            if index.name == name and index.is_filled:
                return current, index
    for index in vector_indexes(current):
        if index.name == name:
            return current, index
    raise ValidationError(f"The table does not have the specified index: {name}")


def _check_served(database: Database, index: VectorIndex) -> None:
    phase = database.delays.phase("vector index", index.since)
    if phase in ("allocating", "backfilling") or not index.is_filled:
        raise ValidationError(f"Cannot search backfilling vector index: {index.name}")
    if phase is not None:
        # Reported as active, but not yet known to the search front end.
        raise ValidationError(f"The table does not have the specified index: {index.name}")


def _query(index: VectorIndex, elements: list[Any]) -> bytes:
    query = numbers.packed(elements)
    if query is None or any(len(element) != 1 for element in elements):
        raise ValidationError(
            "Search vector contains invalid values. All values in the search vector must be a "
            "32-bit floating-point number attribute"
        )
    if len(elements) != index.dimensions:
        raise ValidationError(
            f"Input search vector dimension {len(elements)} does not match vector index dimension "
            f"{index.dimensions}"
        )
    return query


def _wanted(index: VectorIndex, terms: Terms | None) -> dict[str, AttributeValue]:
    """The values that the condition requires of the schema's attributes."""
    if terms is None:
        if index.hash is not None:
            raise ValidationError(f"{_PARAMETER} must be provided when SearchSchema has a HASH key")
        return {}
    for path, _value in terms:
        if path.root not in index.types:
            raise ValidationError(
                f"{_PARAMETER} must not contain any attributes that is not in SearchSchema. "
                f"Invalid attribute: {path.root}"
            )
    if any(len(path.parts) > 1 for path, _value in terms):
        raise ValidationError(
            f"Invalid {_PARAMETER}: {_PARAMETER} cannot have conditions on nested attributes"
        )
    wanted = {path.root: value for path, value in terms}
    if len(wanted) != len(terms):
        raise ValidationError(
            f"Invalid {_PARAMETER}: {_PARAMETER} must only contain one condition per attribute"
        )
    if index.hash is not None and index.hash not in wanted:
        raise ValidationError(f"{_PARAMETER} must be provided when SearchSchema has a HASH key")
    for name, value in wanted.items():
        [(kind, content)] = value.items()
        if kind != index.types[name]:
            raise ValidationError(
                f"Type of '{name}' attribute in {_PARAMETER} ({kind}) does not match type in "
                f"search schema ({index.types[name]})"
            )
        if name == index.hash and content == "":
            raise empty_key(kind, name)
    return wanted


def _search(
    database: Database,
    session: Session,
    table: TableDefinition,
    index: VectorIndex,
    query: bytes,
    most: int,
    wanted: dict[str, AttributeValue],
) -> tuple[list[tuple[ScoredRow, Item | None]], int]:
    """The nearest neighbours, using the old state of items whose change has not reached the
    index.
    """
    filters = {name: value for name, value in wanted.items() if name != index.hash}
    part = entries.part_of(wanted[index.hash] if index.hash is not None else None)
    hidden, past = _lagging_rows(database, session, table, index, part)
    others = [entry for entry, _item in past.values()]
    kept = database.part(VectorPartitions).get(table.id, index, part)
    with kept.lock:
        database.part(VectorPartitions).refresh(session, table.id, index, part, kept)
        found, examined = kept.search(query, most, filters, hidden, others)
    return [(each, past[each.row][1] if each.row in past else None) for each in found], examined


def _lagging_rows(
    database: Database, session: Session, table: TableDefinition, index: VectorIndex, part: bytes
) -> tuple[frozenset[int], dict[int, tuple[StoredVector, Item]]]:
    """Rows whose last change has not reached the index, and their old state."""
    hidden: set[int] = set()
    seen: dict[int, tuple[StoredVector, Item]] = {}
    for number, (place, body) in enumerate(database.lag.past(table).items(), 1):
        stored = session.find(table.id, place)
        if stored is not None:
            hidden.add(stored.row)
        item = None if body is None else orjson.loads(body)
        entry = None if item is None else entries.entry(index, item)
        if item is None or entry is None or entry.part != part:
            continue
        # A deleted item no longer has a row.
        row = stored.row if stored is not None else -number
        filters = entry.filters(index)
        seen[row] = StoredVector(0, row, entry.size, filters, entry.vector), item
    return frozenset(hidden), seen


def _results(
    session: Session,
    table: TableDefinition,
    index: VectorIndex,
    found: list[tuple[ScoredRow, Item | None]],
    projection: Projection | None,
) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = []
    size = 0
    names_vector = projection is not None and any(p.root == index.attribute for p in projection)
    for neighbour, past in found:
        item = past
        if item is None:
            body = session.item_of_row(table.id, neighbour.row)
            if body is None:
                continue
            item = orjson.loads(body)
        size += len(neighbour.vector)
        shown = index.project(item)
        if names_vector:
            shown[index.attribute] = numbers.as_value(neighbour.vector)
        if projection is not None:
            shown = project(projection, shown)
        size += len(orjson.dumps(shown))
        if results and size > SEARCH_ANSWER_BYTES:
            break
        results.append({"Item": shown, "Score": neighbour.score})
    return results
