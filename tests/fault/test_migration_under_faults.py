"""Every fault against a migration, stopped and started again, with writes going on beside it."""

from __future__ import annotations

import os
import random
from functools import partial
from pathlib import Path

import pytest
from tests.fault.troubles import Trouble, in_every_trouble, insistently
from tests.unit.migrations.conftest import OldOrder, Shop, after, before, new_table, order_move

from keyfold.migrations import Backend, Migration, ScanPace, add
from keyfold.migrations.migration import Phase
from keyfold_engine.clients import Client
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.engine import Engine

HISTORIES = int(os.environ.get("FAULT_HISTORIES", "1"))
ORDERS = 40
PHASES: tuple[Phase, ...] = ("follow", "backfill", "verify", "hold")


def opened(engine: Engine, client: Client) -> Shop:
    migration = Migration("m", [add(new_table.schema), order_move()])
    old = before.open(client, create_tables=False)
    return Shop(engine, Backend(client), old, after.open(client, create_tables=False), migration)


def migrate(shop: Shop, phase: Phase) -> None:
    shop.migrator(pace=ScanPace(page=5)).apply(phase)


def write(shop: Shop, chance: random.Random) -> None:
    """A write that leads to the same end when it is done twice."""
    order_id, season = f"o{chance.randrange(ORDERS)}", chance.choice(["s1", "s2"])
    total = chance.randrange(9)
    if chance.random() < 0.3:
        insistently(lambda: shop.old.delete(OldOrder.key(order_id=order_id)))
    else:
        insistently(lambda: shop.old_order(order_id, total, season))


@in_every_trouble
@pytest.mark.parametrize("seed", range(HISTORIES))
def test_a_migration_under_faults_ends_with_both_sides_equal(
    trouble: Trouble, seed: int, tmp_path: Path
) -> None:
    path, chance = tmp_path / "shop.db", random.Random(seed)
    with Engine.open(path, durability="memory") as engine:
        before.open(EmbeddedClient(engine))
        shop = opened(engine, EmbeddedClient(engine))
        for number in range(ORDERS):
            shop.old_order(f"o{number}", number, chance.choice(["s1", "s2"]))
    with trouble.engine(path, seed) as engine, trouble.connected(engine, seed) as client:
        shop = opened(engine, client)
        for phase in PHASES:
            # A new migrator each time, as after a crash.
            insistently(partial(migrate, shop, phase))
            for _ in range(0 if phase == "hold" else 8):
                write(shop, chance)
    with Engine.open(path, durability="memory") as engine:
        shop = opened(engine, EmbeddedClient(engine))
        shop.migrator().apply("hold", repair=False)
        assert shop.new_items() == shop.expected_items()
