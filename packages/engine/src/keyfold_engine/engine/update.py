"""How an update makes a new item."""

from __future__ import annotations

from keyfold_engine.engine.keys import check_index_keys
from keyfold_engine.engine.tables import IndexDefinition, TableDefinition
from keyfold_engine.engine.write import NewItem
from keyfold_engine.errors import ValidationError, parameter_invalid
from keyfold_engine.expressions.ast import Action, AddAction, Projection, SetAction
from keyfold_engine.expressions.evaluate import Values, constant
from keyfold_engine.expressions.parameters import ExpressionParameters
from keyfold_engine.expressions.update import UpdatePlan
from keyfold_engine.limits import ITEM_BYTES
from keyfold_engine.values import Item
from keyfold_engine.values.normal import NormalItem
from keyfold_engine.values.size import growth

_TOO_LARGE = "Item size to update has exceeded the maximum allowed size"


def refuse_large_update(expressions: ExpressionParameters) -> None:
    """Refuse an update whose statement is larger than an item may be."""
    plan = expressions.update
    if plan is not None and plan.charge.exceeds(ITEM_BYTES, expressions.values):
        raise ValidationError(_TOO_LARGE)


class ItemUpdate:
    """The change of an update, and the paths that it touches."""

    def __init__(
        self,
        table: TableDefinition,
        key: NormalItem,
        plan: UpdatePlan | None,
        values: Values,
    ) -> None:
        self._table, self._key, self._plan, self._values = table, key, plan, values
        self._roots: frozenset[str] = frozenset() if plan is None else plan.roots
        self.touched: Projection = () if plan is None else plan.paths
        if plan is None:
            return
        if not self._roots.isdisjoint(table.schema.types):
            name = next(path.root for path in plan.paths if path.root in table.schema.types)
            raise parameter_invalid(
                f"Cannot update attribute {name}. This attribute is part of the key"
            )
        for index in table.indexes_by_name.values():
            if not self._roots.isdisjoint(index.schema.types):
                for action in plan.actions:
                    _check_action(index, action, values)

    def __call__(self, old: NormalItem | None) -> NewItem | None:
        if old is None and self._plan is not None and self._plan.only_takes_away:
            # An update that only removes does not create an item.
            return None
        before = self._key if old is None else old
        item: Item = before
        if self._plan is not None:
            item = self._plan.apply(before, self._values)
        for index in self._table.indexes:
            # The keys of an existing item are valid, except for those the update wrote.
            if old is None or not self._roots.isdisjoint(index.schema.types):
                _check_keys(index, item)
        for further in self._table.further_indexes:
            further.check(item, self._roots)
        size = before.size + growth(before, item, self._roots)
        if size > ITEM_BYTES:
            raise ValidationError(_TOO_LARGE)
        return NewItem(item, size)


def _check_keys(index: IndexDefinition, item: Item) -> None:
    if any(name in item and kind not in item[name] for name, kind in index.schema.types.items()):
        raise ValidationError(
            "The update expression attempted to update the secondary index key to unsupported type"
        )
    check_index_keys(index, item, by_update=True)


def _check_action(index: IndexDefinition, action: Action, values: Values) -> None:
    """Checks without the item: a value that an index key cannot have."""
    name = action.path.root
    kind = index.schema.types.get(name)
    if kind is None:
        return
    if len(action.path.parts) > 1:
        raise ValidationError(
            "Key attributes must be scalars; list random access '[]' and map lookup '.' are not "
            f"allowed: IndexKey: {name}"
        )
    if isinstance(action, (SetAction, AddAction)):
        written = constant(action.value, values)
        if written is not None:
            check_index_keys(index, {name: written}, by_update=True)
