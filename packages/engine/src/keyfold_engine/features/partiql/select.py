"""Executes SELECT: one page of a statement's items, and the token to continue with."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import orjson

from keyfold_engine.engine import selection
from keyfold_engine.engine.capacity import Capacity
from keyfold_engine.engine.database import Database
from keyfold_engine.engine.keys import place_of_key
from keyfold_engine.engine.read import Reading, key_range, place_of, read_page
from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.tables import IndexDefinition, KeySchema, TableDefinition, segment
from keyfold_engine.errors import ValidationError
from keyfold_engine.expressions import evaluate
from keyfold_engine.expressions.ast import Path
from keyfold_engine.expressions.keys import KeySelection
from keyfold_engine.features.partiql.branches import check_branches
from keyfold_engine.features.partiql.key_conditions import full_key, selections
from keyfold_engine.features.partiql.plan import refuse_several
from keyfold_engine.features.partiql.statements import Select
from keyfold_engine.limits import STATEMENT_PAGE_ITEMS
from keyfold_engine.values import Item
from keyfold_engine.values.units import read_units


@dataclass(slots=True)
class SelectPage:
    """One page; `last` and `token` are set if there may be more."""

    items: list[Any]
    capacity: Capacity
    last: Item | None = None
    token: str | None = None


@dataclass(frozen=True, slots=True)
class Start:
    """Where to continue: which of the statement's ranges, after which place."""

    part: int = 0
    place: bytes | None = None


def select(
    database: Database, session: Session, statement: Select, request: dict[str, Any]
) -> SelectPage:
    """Read one page for a SELECT."""
    table = database.catalog.get(session, statement.table)
    index = _index(table, statement, request)
    schema = table.schema if index is None else index.schema
    chosen = selections(statement.where, schema)
    check_branches(statement.where, schema)
    if statement.refused is not None:
        raise ValidationError(statement.refused)
    if index is not None and chosen is not None:
        selection.refuse_unprojected_filter(index, statement.where)
    backward = _backward(statement, schema, confined=chosen is not None)
    ranges = _ranges(chosen, schema)
    start = _start(request)
    consistent = bool(request.get("ConsistentRead"))
    answer = SelectPage([], Capacity(table.name))
    limit: int | None = request.get("Limit")
    if len(ranges) > 1:
        limit = min(limit or STATEMENT_PAGE_ITEMS, STATEMENT_PAGE_ITEMS)
    for part, (first, end) in list(enumerate(ranges))[start.part :]:
        if part == start.part and start.place is not None:
            first, end = (first, start.place) if backward else (start.place + b"\0", end)
        reading = _reading(statement, table, index, first, end, backward, limit)
        page = read_page(database, session, reading)
        answer.items += page.listed()
        answer.capacity.add(page.capacity(reading, consistent=consistent))
        if limit is not None:
            limit -= page.scanned
        if page.last is not None:
            answer.last = page.last
            place = place_of(table, index, page.last)
            answer.token = _token(Start(part, place), request)
            break
        if limit == 0 and part + 1 < len(ranges):
            answer.token = _token(Start(part + 1), request)
            break
    return answer


def _index(
    table: TableDefinition, statement: Select, request: dict[str, Any]
) -> IndexDefinition | None:
    if statement.index is None:
        return None
    index = table.indexes_by_name.get(statement.index)
    if index is None:
        if any(each.name == statement.index for each in table.further_indexes):
            raise ValidationError(selection.NO_SCAN)
        raise ValidationError("The table does not have the specified index")
    refuse_several(index)
    if not index.is_local and request.get("ConsistentRead"):
        raise ValidationError(
            "Strongly consistent read is not supported on Global Secondary Indexes"
        )
    return selection.readable(index)


def select_one(
    database: Database, session: Session, statement: Select, *, consistent: bool
) -> tuple[Item | None, Capacity]:
    """The item that a SELECT by primary key names."""
    table = database.catalog.get(session, statement.table)
    key, _ = full_key(statement.where, table.schema)
    stored = session.find(table.id, place_of_key(table, key))
    size = 0 if stored is None else stored.size
    capacity = Capacity(table.name, read_units(size, consistent=consistent))
    if stored is None:
        return None, capacity
    item: Item = orjson.loads(stored.body)
    shape = shape_of(statement.paths)
    return (item if shape is None else shape(item)), capacity


def shape_of(paths: tuple[Path, ...] | None) -> Callable[[Item], Item] | None:
    """How a SELECT shapes an item: every path under its column's name."""
    if paths is None:
        return None
    columns = [(_column(path), path) for path in paths]

    def shape(item: Item) -> Item:
        found = ((name, evaluate.resolve(path, item)) for name, path in columns)
        return {name: value for name, value in found if value is not None}

    return shape


def _column(path: Path) -> str:
    """The last name, with the list indexes after it: `b[0]` for `a.b[0]`."""
    name = ""
    for part in path.parts:
        name = part if isinstance(part, str) else f"{name}[{part}]"
    return name


def _ranges(chosen: list[KeySelection] | None, schema: KeySchema) -> list[tuple[bytes, bytes]]:
    if chosen is None:
        return [segment(0, 1)]
    return [
        key_range(
            each,
            schema.partition_place(dict(zip(schema.partition, each.partition, strict=True))),
        )
        for each in chosen
    ]


def _reading(
    statement: Select,
    table: TableDefinition,
    index: IndexDefinition | None,
    first: bytes,
    end: bytes,
    backward: bool,
    limit: int | None,
) -> Reading:
    shape = shape_of(statement.paths)
    fetches = False
    if index is not None and index.attributes is not None:
        named = None if statement.paths is None else tuple(Path((p.root,)) for p in statement.paths)
        projected, fetches = selection.shape_of(index, None, named)
        shape = shape or projected
    return Reading(
        table,
        index,
        first,
        end,
        backward=backward,
        limit=limit,
        matches=selection.visible(index, statement.where),
        shape=shape,
        fetches=fetches,
    )


def _backward(statement: Select, schema: KeySchema, *, confined: bool) -> bool:
    if not statement.order:
        return False
    if statement.where is None:
        raise ValidationError("Must have WHERE clause in the statement when using ORDER BY clause.")
    if not confined:
        raise ValidationError(
            "Must have at least one non-optional hash key condition in WHERE clause when using "
            "ORDER BY clause."
        )
    for term in statement.order:
        if term.name not in schema.types:
            raise ValidationError(
                f"Variable reference {term.name} in ORDER BY clause must be part of the primary key"
            )
    return any(term.descending for term in statement.order if term.name in schema.sort)


def _token(start: Start, request: dict[str, Any]) -> str:
    place = None if start.place is None else start.place.hex()
    return urlsafe_b64encode(orjson.dumps([_digest(request), start.part, place])).decode()


def _start(request: dict[str, Any]) -> Start:
    token: str | None = request.get("NextToken")
    if token is None:
        return Start()
    try:
        digest, part, place = orjson.loads(urlsafe_b64decode(token))
        start = Start(int(part), None if place is None else bytes.fromhex(place))
    except (ValueError, TypeError):
        raise ValidationError("Invalid NextToken") from None
    if digest != _digest(request):
        raise ValidationError("NextToken does not match request")
    return start


def _digest(request: dict[str, Any]) -> str:
    content = orjson.dumps([request["Statement"], request.get("Parameters")])
    return sha256(content).hexdigest()[:16]
