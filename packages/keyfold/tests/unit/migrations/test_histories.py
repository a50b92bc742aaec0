"""Whatever happens in whatever order, the new side ends as the old side through the transform."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hypothesis import given, settings
from hypothesis import strategies as st

from keyfold.migrations import Backend, Migration, Migrator, ScanPace, add
from keyfold.migrations.copier import Copier
from keyfold.migrations.direction import Direction
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.engine import Engine

from .conftest import OldOrder, Shop, after, before, new_table, order_move

ids = st.sampled_from(["a", "b", "c", "d"])
seasons = st.sampled_from(["s1", "s2"])
actions = st.one_of(
    st.tuples(st.just("put"), ids, seasons, st.integers(0, 5)),
    st.tuples(st.just("delete"), ids),
    st.just(("copy",)),
    st.just(("copy again",)),
    st.just(("scan",)),
    st.just(("copy what was scanned",)),
    st.just(("restart",)),
)


@contextmanager
def opened() -> Iterator[Shop]:
    engine = Engine.open(":memory:")
    client = EmbeddedClient(engine)
    migration = Migration("m", [add(new_table.schema), order_move()])
    old, new = before.open(client), after.open(client, create_tables=False)
    yield Shop(engine, Backend(client), old, new, migration)
    engine.close()


@settings(max_examples=60)
@given(start=st.lists(st.tuples(ids, seasons)), history=st.lists(actions, max_size=30))
def test_any_history_ends_with_both_sides_equal(
    start: list[tuple[str, str]], history: list[tuple[object, ...]]
) -> None:
    with opened() as shop:
        for order_id, season in start:
            shop.old_order(order_id, 9, season)
        migrator = Migrator(
            shop.migration, shop.backend, pace=ScanPace(segments=1), without_routers=True
        )
        migrator.apply("follow")

        def fresh() -> Copier:
            return Copier(migrator.store, Direction(shop.backend, [order_move().forward]), "new")

        copier = fresh()
        scanned = shop.backend.call("Scan", {"TableName": "Orders"})["Items"]
        for action in history:
            if action[0] == "put":
                shop.old_order(str(action[1]), int(str(action[3])), str(action[2]))
            elif action[0] == "delete":
                shop.old.delete(OldOrder.key(order_id=str(action[1])))
            elif action[0] == "copy":
                copier.poll()
            elif action[0] == "copy again":
                forget_positions(migrator)
                copier = fresh()
                copier.poll()
            elif action[0] == "scan":
                scanned = shop.backend.call("Scan", {"TableName": "Orders"})["Items"]
            elif action[0] == "copy what was scanned":
                copier.copy_scanned("Orders", scanned)
            else:
                copier = fresh()
        copier.copy_scanned("Orders", scanned)
        copier.catch_up()
        migrator.apply("hold", repair=False)
        assert shop.new_items() == shop.expected_items()


def forget_positions(migrator: Migrator) -> None:
    """As after a crash between copying and noting how far it was: everything comes again."""
    store = migrator.store
    for item in list(store.all_of(store.name, "position:")):
        key = {name: item[name] for name in ("migration", "part")}
        store.backend.call("DeleteItem", {"TableName": store.table, "Key": key})
