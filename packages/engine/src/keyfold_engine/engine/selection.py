"""What Query and Scan share: index, Select, starting key, and the answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from keyfold_engine.engine.answers import Listing
from keyfold_engine.engine.capacity import wanted
from keyfold_engine.engine.catalog import Catalog
from keyfold_engine.engine.read import Reading, ResultPage
from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.tables import IndexDefinition, TableDefinition
from keyfold_engine.errors import RequestInvalid, ValidationError, parameter_invalid
from keyfold_engine.expressions import evaluate
from keyfold_engine.expressions.ast import Condition, Path, Projection, roots
from keyfold_engine.expressions.projection import compile_projection
from keyfold_engine.values import Item


def check_select(request: dict[str, Any]) -> None:
    """The rules between Select and the parameters that name attributes."""
    select = request.get("Select")
    named = next(
        (p for p in ("ProjectionExpression", "AttributesToGet") if request.get(p) is not None), None
    )
    if select == "SPECIFIC_ATTRIBUTES" and named is None:
        _refuse(
            "Must specify the AttributesToGet or ProjectionExpression when choosing to get "
            "SPECIFIC_ATTRIBUTES"
        )
    if select not in (None, "SPECIFIC_ATTRIBUTES") and named is not None:
        chosen = "only the Count" if select == "COUNT" else select
        _refuse(f"Cannot specify the {named} when choosing to get {chosen}")
    if select == "ALL_PROJECTED_ATTRIBUTES" and request.get("IndexName") is None:
        _refuse("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName")


def _refuse(reason: str) -> NoReturn:
    raise RequestInvalid(reason, newer=f"1 validation error detected: {reason}")


def index_of(
    catalog: Catalog,
    session: Session,
    table: TableDefinition,
    request: dict[str, Any],
    *,
    of_scan: bool,
) -> IndexDefinition | None:
    """The index that the request reads, if it names one."""
    name = request.get("IndexName")
    if name is None:
        return None
    index = table.indexes_by_name.get(name)
    if index is None or index.status != "ACTIVE":
        # Another process may have created or completed it.
        current = catalog.load(session, table.name) or table
        index = current.indexes_by_name.get(name)
        if index is None:
            _refuse_further(current, request, of_scan=of_scan)
    if index is None:
        raise ValidationError(f"The table does not have the specified index: {name}")
    if not index.is_local and request.get("ConsistentRead"):
        raise ValidationError("Consistent reads are not supported on global secondary indexes")
    return readable(index)


NO_SCAN = "Scan operation not supported on this index type"


def _refuse_further(table: TableDefinition, request: dict[str, Any], *, of_scan: bool) -> None:
    """Refuse an index of another kind, which has its own operation."""
    if all(each.name != request["IndexName"] for each in table.further_indexes):
        return
    if of_scan:
        raise ValidationError(NO_SCAN)
    if request.get("ConsistentRead"):
        raise ValidationError("Consistent reads are not supported on global secondary indexes")
    raise ValidationError("Query operation not supported on this index type.")


def readable(index: IndexDefinition) -> IndexDefinition:
    """The index; refused while it is being filled."""
    if index.status == "CREATING":
        raise ValidationError(f"Cannot read from backfilling global secondary index: {index.name}")
    return index


def visible(
    index: IndexDefinition | None,
    condition: Condition | None,
    values: evaluate.Values = evaluate.NO_VALUES,
) -> Callable[[Item], bool] | None:
    """A filter as a test of what an index projects of a stored item."""
    if condition is None:
        return None
    test = evaluate.compile_condition(condition, values)
    if index is None or index.attributes is None:
        return test
    project = index.project

    def matches(item: Item) -> bool:
        return test(project(item))

    return matches


def refuse_unprojected_filter(index: IndexDefinition, condition: Condition | None) -> None:
    """A query on an index may only filter by projected attributes."""
    if condition is None or index.attributes is None:
        return
    missing = sorted({name for name in roots(condition) if name not in index.attributes})
    if missing:
        raise parameter_invalid(
            f"Secondary index {index.name} does not project one or more filter "
            f"attributes: [{', '.join(missing)}]"
        )


def shape_of(
    index: IndexDefinition | None, select: str | None, projection: Projection | None
) -> tuple[Callable[[Item], Item] | None, bool]:
    """How to shape answers from stored items, and whether that reads the table behind an index."""
    if index is None or index.attributes is None:
        return (None if projection is None else compile_projection(projection)), False
    if projection is not None:
        missing = [path.root for path in projection if path.root not in index.attributes]
        if not missing or not index.is_local:
            _refuse_unprojected(index, missing)
            return compile_projection(projection), False
        return compile_projection(projection), True
    if select == "ALL_ATTRIBUTES":
        if not index.is_local:
            raise parameter_invalid(
                f"Select type ALL_ATTRIBUTES is not supported for global secondary index "
                f"{index.name} because its projection type is not ALL"
            )
        return None, True
    return index.project, False


def _refuse_unprojected(index: IndexDefinition, missing: list[str]) -> None:
    if missing:
        raise parameter_invalid(
            f"Global secondary index {index.name} does not project [{', '.join(missing)}]"
        )


def refuse_nested_keys(table: TableDefinition, named: Iterable[Path]) -> None:
    """Refuse a path into a key, which is a scalar."""
    nested = {path.root for path in named if len(path.parts) > 1}
    if not nested:
        return
    for kind, schemas in (
        ("Key", [table.schema]),
        ("IndexKey", [index.schema for index in table.indexes]),
    ):
        for name in (name for schema in schemas for name in schema.attributes):
            if name in nested:
                raise ValidationError(
                    "Key attributes must be scalars; list random access '[]' and map lookup '.' "
                    f"are not allowed: {kind}: {name}"
                )


def answer(request: dict[str, Any], reading: Reading, page: ResultPage) -> dict[str, Any]:
    """The answer of Query and Scan."""
    made: dict[str, Any] = {"Count": page.count, "ScannedCount": page.scanned}
    if page.last is not None:
        made["LastEvaluatedKey"] = page.last
    detail = wanted(request)
    if detail is not None:
        consistent = bool(request.get("ConsistentRead"))
        made["ConsumedCapacity"] = page.capacity(reading, consistent=consistent).answer(detail)
    if reading.counts_only:
        return made
    if page.bodies is not None:
        return Listing(made, page.bodies)
    made["Items"] = page.items
    return made
