"""What a write sends to the other regions, and how they apply it.

Each change carries its time and region. Of two changes of one item the later wins everywhere; of
two at the same time, the one from the region that sorts later. A change in a region is always later
than what that region has seen.
"""

from __future__ import annotations

from base64 import b64encode
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

from keyfold_engine.engine import write
from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.tables import TableDefinition
from keyfold_engine.engine.write import ItemWrite, NewItem
from keyfold_engine.features.replicas.replicated_table import regions_of, replicas_of
from keyfold_engine.values import Item
from keyfold_engine.values.normal import NormalItem
from keyfold_engine.values.size import item_size

if TYPE_CHECKING:
    from keyfold_engine.engine.database import Database

_TICK = 1e-6
_numbers = count()


def kind_for(region: str) -> str:
    """The document kind of changes that wait for a region."""
    return f"change for {region}"


def waiting(session: Session, region: str, limit: int) -> list[tuple[str, dict[str, Any]]]:
    """The changes that wait for a region, oldest first."""
    return session.documents(kind_for(region), limit)


def note(database: Database, session: Session, prepared: write.Prepared) -> None:
    """Record a change: its version here, and the changes for the other regions."""
    wish, table = prepared.write, prepared.write.table
    seen_at, _seen_in = _version(session, table, wish.place)
    if wish.origin is not None:
        _keep_version(session, table, wish.place, wish.origin)
        return
    at = max(database.clock.now(), seen_at + _TICK)
    _keep_version(session, table, wish.place, (at, database.region))
    change = {
        "Table": table.name,
        "Key": table.schema.key_of(prepared.item),
        "Item": None if prepared.new is None else prepared.new.item,
        "Identity": wish.identity,
        "At": at,
        "Region": database.region,
    }
    for region in replicas_of(table):
        due = regions_of(database).due(database.clock.now())
        order = f"{int(at * 1e6):020d}-{next(_numbers):012d}"
        session.keep_document(kind_for(region), order, {**change, "Due": due})


def apply(database: Database, change: dict[str, Any]) -> bool:
    """Apply a change of another region; returns whether it won."""
    return database.write(partial(_apply, database, change))


def _apply(database: Database, change: dict[str, Any], session: Session) -> bool:
    table = database.catalog.find(session, change["Table"])
    if table is None:
        return False
    place = table.schema.place(change["Key"])
    origin = (change["At"], change["Region"])
    if origin <= _version(session, table, place):
        return False
    wish = ItemWrite(
        table,
        place,
        partial(_changed, change["Item"]),
        identity=change.get("Identity"),
        origin=origin,
    )
    if not write.execute(database, session, wish).is_change():
        _keep_version(session, table, place, origin)
    return True


def _changed(item: Item | None, _old: NormalItem | None) -> NewItem | None:
    return None if item is None else NewItem(item, item_size(item))


def _versions(table: TableDefinition) -> str:
    return f"version {table.definition['TableId']}"


def _version(session: Session, table: TableDefinition, place: bytes) -> tuple[float, str]:
    at, region = session.document(_versions(table), b64encode(place).decode()) or (-1.0, "")
    return at, region


def _keep_version(
    session: Session, table: TableDefinition, place: bytes, version: tuple[float, str]
) -> None:
    session.keep_document(_versions(table), b64encode(place).decode(), version)
