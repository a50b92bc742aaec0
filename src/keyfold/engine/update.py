"""How an update makes a new item."""

from __future__ import annotations

from keyfold.engine.keys import check_index_keys
from keyfold.engine.tables import Table
from keyfold.engine.write import NewItem
from keyfold.errors import ValidationError
from keyfold.expressions.ast import Projection, Update
from keyfold.expressions.update import apply
from keyfold.limits import ITEM_BYTES
from keyfold.values import Item

_INVALID = "One or more parameter values were invalid: "


class ItemUpdate:
    """The change that an update makes; afterwards it knows which paths it touched."""

    def __init__(self, table: Table, key: Item, update: Update | None) -> None:
        self._table, self._key, self._update = table, key, update
        self.touched: Projection = ()
        self.written: Projection = ()
        if update is not None:
            for action in update.actions:
                if action.path.root in table.schema.types:
                    raise ValidationError(
                        f"{_INVALID}Cannot update attribute {action.path.root}. This attribute is "
                        "part of the key"
                    )

    def __call__(self, old: Item | None) -> NewItem:
        item = self._key if old is None else old
        if self._update is not None:
            updated = apply(self._update, item)
            item, self.touched, self.written = updated.item, updated.touched, updated.written
        for index in self._table.indexes:
            check_index_keys(index, item)
        new = NewItem.of(item)
        if new.size > ITEM_BYTES:
            raise ValidationError("Item size to update has exceeded the maximum allowed size")
        return new
