"""A migration of a table in use: rows a second, and what live requests notice of it."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from threading import Event, Thread

from bench import peers
from bench.handwritten_copy import copy_by_hand
from bench.harness import Budget, Case, Outcome
from keyfold import Db, Design, Entity, Id, Index, Key, On, Pointer
from keyfold.migrations import Backend, Migration, Migrator, add, move
from keyfold.migrations.migration import Phase
from keyfold_engine.clients import connect

before = Design("before")
old_table = before.table(
    "Orders",
    partition="orderId",
    sort=None,
    indexes=[Index("by-season", "seasonId", "orderId")],
    type_attribute=None,
)
after = Design("after")
new_table = after.table("SeasonOrders")


class OldOrder(Entity, table=old_table):
    order_id: Id
    season_id: str
    total: int
    notes: str = ""
    key = Key("{order_id}")
    by_season = On("by-season", "{season_id}", "{order_id}")


class Order(Entity, table=new_table):
    season_id: str
    order_id: Id
    cents: int
    notes: str = ""
    key = Key("SEASON#{season_id}", "ORDER#{order_id}")


class OrderById(Pointer[Order], table=new_table, sync="transaction"):
    order_id: Id
    season_id: str
    key = Key("ORDER#{order_id}", "ORDER")


def _forward(old: OldOrder) -> Order:
    return Order(
        season_id=old.season_id, order_id=old.order_id, cents=old.total * 100, notes=old.notes
    )


def _backward(new: Order) -> OldOrder:
    return OldOrder(
        order_id=new.order_id, season_id=new.season_id, total=new.cents // 100, notes=new.notes
    )


PLAN = Migration(
    "orders-by-season",
    [
        add(new_table.schema),
        move(OldOrder, Order, forward=_forward, backward=_backward),
    ],
)
REQUESTS_A_SECOND = 100
SEASONS = 50


class Live:
    """Somebody who reads and writes orders all the time, and notes how long each request takes."""

    def __init__(self, db: Db, orders: int, *, follows: bool = False) -> None:
        self._db, self._orders, self._follows = db, orders, follows
        self._over = Event()
        self.took: list[float] = []

    def __enter__(self) -> Live:
        self._thread = Thread(target=self._live)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _live(self) -> None:
        number = 0
        while not self._over.wait(1 / REQUESTS_A_SECOND):
            number = (number + 7919) % self._orders
            began = time.perf_counter()
            self._request(number)
            self.took.append((time.perf_counter() - began) * 1e3)

    def _request(self, number: int) -> None:
        if self._follows:
            new = Order.key(season_id=f"s{number % SEASONS}", order_id=f"o{number}")
            if number % 2:
                self._db.find(new)
            else:
                self._db.update(new, cents=number * 100)
        elif number % 2:
            self._db.find(OldOrder.key(order_id=f"o{number}"))
        else:
            self._db.update(OldOrder.key(order_id=f"o{number}"), total=number)

    @property
    def slowest(self) -> float:
        return max(self.took)

    @property
    def middle(self) -> float:
        return statistics.median(self.took)

    @property
    def slow(self) -> float:
        """The slowest of twenty."""
        return sorted(self.took)[int(0.95 * len(self.took))]


def run(stack: ExitStack, budget: Budget) -> Iterator[Outcome]:
    orders = 100_000 if budget.full else 10_000
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    port = peers.free_port()
    server = peers.keyfold(port, folder / "orders.db", "--durability", "relaxed")
    stack.enter_context(peers.server(server, port))
    url = f"http://127.0.0.1:{port}"
    db = before.open(url, create_tables=True)
    stack.callback(db.close)
    db.put_many(
        [
            OldOrder(order_id=f"o{n}", season_id=f"s{n % SEASONS}", total=n, notes="x" * 200)
            for n in range(orders)
        ]
    )
    with Live(db, orders) as alone:
        time.sleep(max(2.0, 10 * budget.seconds))
    with Live(db, orders) as beside:
        copied, verified = _seconds(url, "copy")
    following = after.open(url, migration=PLAN, create_tables=False)
    stack.callback(following.close)
    with Live(following, orders, follows=True) as switched:
        time.sleep(1.0)
        _seconds(url, "switch")
        time.sleep(1.0)
    by_hand, looked = _seconds(url, "by-hand")
    outcome = Outcome(
        "migrations", f"a migration of {orders:,} orders in use, over HTTP", "keyfold"
    )
    outcome.figures = {
        "copied, each with a pointer": f"{orders / copied:,.0f} rows a second",
        "the same by hand with boto3, one process, nothing followed": (
            f"{orders / by_hand:,.0f} rows a second"
        ),
        "verified": f"{orders / verified:,.0f} rows a second",
        "compared by hand with boto3, one way": f"{orders / looked:,.0f} rows a second",
        "live requests alone": f"p50 {alone.middle:.2f} ms, p95 {alone.slow:.2f} ms",
        "live requests during the migration": (
            f"p50 {beside.middle:.2f} ms, p95 {beside.slow:.2f} ms; "
            f"{beside.middle / alone.middle:.1f} and {beside.slow / alone.slow:.1f} times as long"
        ),
        "the slowest live request": (
            f"alone {alone.slowest:.0f} ms, during the copy {beside.slowest:.0f} ms, of an "
            f"application that follows while sides switch {switched.slowest:.0f} ms"
        ),
    }
    yield outcome


def _seconds(url: str, work: str) -> tuple[float, ...]:
    """What a process of its own took, as in production: requests share the server with it alone."""
    command = [sys.executable, "-m", __name__, url, work]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return tuple(map(float, done.stdout.split()))


def main(url: str, work: str) -> None:
    """Do a part, and tell the seconds of what takes long in it."""
    if work == "by-hand":
        print(*copy_by_hand(url))
        return
    client = connect(url)
    migrator = Migrator(PLAN, Backend(client), without_routers=work == "copy", quiet=0.0)
    phases: tuple[Phase, ...] = ("backfill", "verify") if work == "copy" else ("hold",)
    migrator.apply("follow" if work == "copy" else "verify")
    for phase in phases:
        began = time.perf_counter()
        migrator.apply(phase)
        print(time.perf_counter() - began)
    client.close()


CASES = [Case("migrations", "Migrations", run)]

if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
