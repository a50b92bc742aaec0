"""A rollback restores what the old design needs, whatever the new one did meanwhile."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.unit.migrations.answers import answer, decide, read, write

from keyfold import Db, Design
from keyfold.errors import MigrationError
from keyfold.maintain import verify
from keyfold.migrations import (
    Backend,
    Migration,
    Migrator,
    add,
    derive,
    load,
    move,
    rename,
    transform_attribute,
)
from keyfold.migrations.plan import draft
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.engine import Engine

HEAD = """
from typing import Annotated, Any
from keyfold import Counter, Design, Entity, Index, Key, On, Pointer, Unique
design = Design("shop")
"""
SHOP = (
    HEAD
    + """
table = design.table("Shop", indexes=[Index("by-state", "stateKey", "idKey")])
class Host(Entity, table=table):
    host: str
    opened: Annotated[int, Counter("Order", where=lambda one: one.state == "open")] = 0
    key = Key("HOST#{host}", "HOST")
class Order(Entity, table=table):
    id: str
    host: str
    state: str
    key = Key("ORDER#{id}", "ORDER")
    by_state = On("by-state", "STATE#{state}", "{id}", when=lambda one: one.state == "open")
    once = Unique("id")
class OrderOf(Pointer[Order], table=table):
    host: str
    id: str
    key = Key("OF#{host}", "ORDER#{id}")
"""
)


Running = Callable[[Design, Migration], Db]


@pytest.fixture
def client() -> Iterator[EmbeddedClient]:
    with Engine.open(":memory:") as engine:
        yield EmbeddedClient(engine)


@pytest.fixture
def open_running(client: EmbeddedClient) -> Iterator[Running]:
    """Opens applications that stay busy: the migrator waits ten seconds for an idle one."""
    stop = threading.Event()
    running = []

    def open_one(design: Design, migration: Migration) -> Db:
        db = design.open(client, migration=migration)

        def ask() -> None:
            while not stop.wait(0.05):
                db.client.call("ListTables", {})

        running.append(threading.Thread(target=ask))
        running[-1].start()
        return db

    yield open_one
    stop.set()
    for thread in running:
        thread.join(20)


def declared(text: str, name: str) -> Any:
    module: Any = ModuleType(name)
    sys.modules[name] = module
    exec(compile(text, f"{name}.py", "exec", dont_inherit=True), module.__dict__)
    return module


def planned(
    old: Design, new: Design, folder: Path, decide: Callable[[dict[str, Any]], None] | None = None
) -> Migration:
    path = draft("change", old.schema, new.schema).save(folder)
    if decide is not None:
        given = read(path)
        for asked in given["steps"]:
            decide(asked)
        write(path, given)
    return load(path)


def migrator(migration: Migration, client: EmbeddedClient) -> Migrator:
    return Migrator(migration, Backend(client), without_routers=True)


def stored(client: EmbeddedClient, table: str = "Shop") -> dict[str, dict[str, Any]]:
    items = client.call("Scan", {"TableName": table})["Items"]
    return {f"{item['PK']['S']} {item['SK']['S']}": item for item in items}


def keyed(item: dict[str, Any]) -> list[str]:
    return [item[name]["S"] for name in ("stateKey", "idKey") if name in item]


@pytest.mark.parametrize(
    "step",
    [
        transform_attribute("Shop", "name", str.upper, str.lower),
        rename("Shop", "mail", "address"),
        derive("Shop", "level", lambda _: "first"),
    ],
    ids=["transform", "rename", "add"],
)
def test_what_no_rewrite_changed_is_not_undone(client: EmbeddedClient, step: Any) -> None:
    declared(SHOP, "untouched").design.open(client)
    odd = [
        {"name": {"S": "UPPER"}, "level": {"S": "mine"}},
        {"name": {"S": "lower"}, "mail": {"S": "m"}, "address": {"S": "another"}},
        {"address": {"S": "only"}},
    ]
    for number, item in enumerate(odd):
        key = {"PK": {"S": f"X#{number}"}, "SK": {"S": "X"}}
        client.call("PutItem", {"TableName": "Shop", "Item": {**key, **item}})
    was = stored(client)
    migrator(Migration("rewrite", [step]), client).apply("hold")
    migrator(Migration("rewrite", [step]), client).rollback()
    assert stored(client) == was


def test_a_write_of_the_old_application_that_was_not_followed_yet_stays(
    client: EmbeddedClient,
) -> None:
    declared(SHOP, "unfollowed").design.open(client)
    item = {"PK": {"S": "X#1"}, "SK": {"S": "X"}, "mail": {"S": "before"}}
    client.call("PutItem", {"TableName": "Shop", "Item": item})
    step = rename("Shop", "mail", "address")
    migrator(Migration("rename", [step]), client).apply("backfill")
    update = {
        "UpdateExpression": "SET mail = :m",
        "ExpressionAttributeValues": {":m": {"S": "late"}},
    }
    key = {"PK": item["PK"], "SK": item["SK"]}
    client.call("UpdateItem", {"TableName": "Shop", "Key": key, **update})
    migrator(Migration("rename", [step]), client).rollback()
    assert stored(client) == {"X#1 X": {**item, "mail": {"S": "late"}}}


def test_structures_are_as_the_old_design_keeps_them(
    client: EmbeddedClient, open_running: Running, tmp_path: Path
) -> None:
    old = declared(SHOP, "kept_old")
    text = SHOP.replace(
        'one.state == "open")] = 0',
        'one.state == "shut")] = 0\n    all: Annotated[int, Counter("Order")] = 0',
    )
    text = text.replace('Unique("id")', 'Unique("id", "host")').partition("class OrderOf")[0]
    text += """
class OrderIn(Pointer[Order], table=table):
    state: str
    id: str
    key = Key("IN#{state}", "ORDER#{id}")
"""
    new = declared(text, "kept_new")
    before = old.design.open(client)
    before.create(old.Host(host="h"))
    for number in range(6):
        state = "open" if number % 2 else "shut"
        before.create(old.Order(id=f"o{number}", host="h", state=state))
    migration = planned(old.design, new.design, tmp_path)
    migrator(migration, client).apply("hold")
    after = open_running(new.design, migration)
    assert after.get(new.Host.key(host="h")).opened == 3
    after.create(new.Order(id="made", host="h", state="open"))
    after.update(new.Order.key(id="o0"), state="open")
    after.delete(new.Order.key(id="o1"))
    migrator(migration, client).rollback()
    assert verify(before).clean
    assert before.get(old.Host.key(host="h")).opened == 4
    found = stored(client)
    assert "all" not in found["HOST#h HOST"]
    kinds = {item["type"]["S"] for item in found.values()}
    assert kinds == {"Host", "Order", "OrderOf", "Unique"}
    assert [name for name in found if name.startswith("UNIQUE#Order#id+host")] == []


def test_items_are_in_an_index_that_was_to_go_and_by_the_old_condition(
    client: EmbeddedClient, open_running: Running, tmp_path: Path
) -> None:
    old = declared(SHOP, "indexed_old")
    text = SHOP.replace(', indexes=[Index("by-state", "stateKey", "idKey")]', "")
    lines = [line for line in text.splitlines() if "by_state" not in line]
    new = declared("\n".join(lines), "indexed_new")
    before = old.design.open(client)
    before.create(old.Host(host="h"))
    for number in range(2):
        before.create(old.Order(id=f"o{number}", host="h", state="open"))

    def stays(step: dict[str, Any]) -> None:
        if "decide" in step:
            step["answer"] = "none"

    migration = planned(old.design, new.design, tmp_path, stays)
    migrator(migration, client).apply("hold")
    after = open_running(new.design, migration)
    after.update(new.Order.key(id="o0"), state="shut")
    after.create(new.Order(id="made", host="h", state="open"))
    migrator(migration, client).rollback()
    found = stored(client)
    assert keyed(found["ORDER#o0 ORDER"]) == []
    assert keyed(found["ORDER#o1 ORDER"]) == ["STATE#open", "o1"]
    assert keyed(found["ORDER#made ORDER"]) == ["STATE#open", "made"]


def test_index_keys_are_made_of_a_field_under_its_new_name(
    client: EmbeddedClient, open_running: Running, tmp_path: Path
) -> None:
    old = declared(SHOP, "named_old")
    text = SHOP.replace('state: str\n    key = Key("ORDER', 'status: str\n    key = Key("ORDER')
    text = text.replace("STATE#{state}", "STATE#{status}").replace("one.state", "one.status")
    new = declared(text, "named_new")
    before = old.design.open(client)
    before.create(old.Host(host="h"))
    before.create(old.Order(id="o", host="h", state="open"))

    def renamed(step: dict[str, Any]) -> None:
        if "decide" in step:
            step["answer"] = 1
        elif "derive" in step:
            step.clear()
            step |= {"fill indexes": "Order", "before": "Order"}

    migration = planned(old.design, new.design, tmp_path, renamed)
    migrator(migration, client).apply("hold")
    after = open_running(new.design, migration)
    after.create(new.Order(id="made", host="h", status="open"))
    assert keyed(stored(client)["ORDER#o ORDER"]) == ["STATE#open", "o"]
    migrator(migration, client).rollback()
    found = stored(client)
    assert keyed(found["ORDER#made ORDER"]) == ["STATE#open", "made"]
    assert found["ORDER#made ORDER"]["state"] == {"S": "open"}
    assert "status" not in found["ORDER#made ORDER"]


MOVED = SHOP.replace('design.table("Shop"', 'design.table("Moved"')
REKEYED = SHOP.replace('Key("ORDER#{id}", "ORDER")', 'Key("HOST#{host}", "ORDER#{id}")')


def test_an_entity_with_unique_values_and_pointers_leaves_a_table_that_is_dropped(
    client: EmbeddedClient, tmp_path: Path
) -> None:
    old, new = declared(SHOP, "left_old"), declared(MOVED, "left_new")
    before = old.design.open(client)
    before.create(old.Host(host="h"))
    before.create(old.Order(id="o", host="h", state="open"))
    was = {name: item["type"]["S"] for name, item in stored(client).items()}
    migration = planned(old.design, new.design, tmp_path)
    migrator(migration, client).apply("contract")
    assert {name: item["type"]["S"] for name, item in stored(client, "Moved").items()} == was
    assert client.call("ListTables", {})["TableNames"] == ["Moved", "keyfold_migrations"]


def test_what_followed_from_items_that_moved_goes_with_them_from_a_table_that_stays(
    client: EmbeddedClient, tmp_path: Path
) -> None:
    old = declared(SHOP, "stays_old")
    (kept,) = (line for line in SHOP.splitlines() if line.startswith("table = "))
    text = MOVED.replace("class Host", f"shop{kept.removeprefix('table')}\nclass Host")
    new = declared(text.replace("Host(Entity, table=table)", "Host(Entity, table=shop)"), "stays")
    before = old.design.open(client)
    before.create(old.Host(host="h"))
    before.create(old.Order(id="o", host="h", state="open"))
    migrator(planned(old.design, new.design, tmp_path), client).apply("contract")
    assert stored(client).keys() == {"HOST#h HOST"}
    kinds = {item["type"]["S"] for item in stored(client, "Moved").values()}
    assert kinds == {"Order", "OrderOf", "Unique"}


def test_another_key_in_the_same_table_is_refused_where_a_value_is_unique() -> None:
    old, new = declared(SHOP, "held_old"), declared(REKEYED, "held_new")
    words = "id is unique under both: its marker names one holder.*move the entity to a new table"
    with pytest.raises(MigrationError, match=words):
        draft("change", old.design.schema, new.design.schema)
    with pytest.raises(MigrationError, match=words):
        move(old.Order, new.Order)


def test_a_pointer_that_both_keys_have_stays(
    client: EmbeddedClient, open_running: Running, tmp_path: Path
) -> None:
    once = '    once = Unique("id")\n'
    old = declared(SHOP.replace(once, ""), "pointed_old")
    new = declared(REKEYED.replace(once, ""), "pointed_new")
    before = old.design.open(client)
    before.create(old.Host(host="h"))
    before.create(old.Order(id="o", host="h", state="open"))
    migration = planned(old.design, new.design, tmp_path)
    migrator(migration, client).apply("verify")
    after = open_running(new.design, migration)
    after.create(new.Order(id="made", host="h", state="open"))
    after.update(new.Order.key(host="h", id="o"), state="shut")
    migrator(migration, client).apply("hold")
    after.create(new.Order(id="late", host="h", state="open"))
    migrator(migration, client).rollback()
    assert verify(before).clean
    assert {name for name in stored(client) if name.startswith("OF#")} == {
        "OF#h ORDER#o",
        "OF#h ORDER#made",
        "OF#h ORDER#late",
    }


ALONE = (
    HEAD
    + """
table = design.table("Shop")
class User(Entity, table=table):
    id: str
    name: str = ""
    key = Key("USER#{id}", "USER")
"""
)
WHOLE = ALONE.replace('name: str = ""', 'name: str = ""\n    mail: Any = None')


def test_an_attribute_that_a_move_drops_stays_on_the_old_side(
    client: EmbeddedClient, open_running: Running
) -> None:
    old = declared(WHOLE, "noted_old")
    new = declared(ALONE.replace('"Shop"', '"Moved"'), "noted_new")
    before = old.design.open(client)
    before.create(old.User(id="ada", mail="ada@x"))
    steps: list[Any] = [add(new.table.schema), move(old.User, new.User, drops=["mail"])]
    migration = Migration("move", steps)
    migrator(migration, client).apply("verify")
    after = open_running(new.design, migration)
    after.update(new.User.key(id="ada"), name="Ada")
    assert "mail" not in stored(client, "Moved")["USER#ada USER"]
    migrator(migration, client).apply("hold")
    after.update(new.User.key(id="ada"), name="Ada L.")
    migrator(migration, client).rollback()
    assert before.get(old.User.key(id="ada")) == old.User(id="ada", name="Ada L.", mail="ada@x")


def test_nothing_of_a_deleted_item_comes_back_with_one_that_is_made_in_its_place(
    client: EmbeddedClient, open_running: Running
) -> None:
    old = declared(WHOLE, "remade_old")
    new = declared(ALONE.replace('"Shop"', '"Moved"'), "remade_new")
    before = old.design.open(client)
    before.create(old.User(id="ada", mail="ada@x"))
    steps: list[Any] = [add(new.table.schema), move(old.User, new.User, drops=["mail"])]
    migration = Migration("move", steps)
    migrator(migration, client).apply("hold")
    after = open_running(new.design, migration)
    after.delete(new.User.key(id="ada"))
    after.create(new.User(id="ada", name="Another"))
    migrator(migration, client).rollback()
    assert before.get(old.User.key(id="ada")) == old.User(id="ada", name="Another")


def test_a_copier_that_has_not_noticed_the_switch_brings_back_nothing(
    client: EmbeddedClient, open_running: Running
) -> None:
    old = declared(ALONE, "noticed_old")
    new = declared(ALONE.replace('"Shop"', '"Moved"'), "noticed_new")
    old.design.open(client).create(old.User(id="ada"))
    steps: list[Any] = [add(new.table.schema), move(old.User, new.User)]
    migration = Migration("move", steps)
    migrator(migration, client).apply("verify")
    late = migrator(migration, client).items.copier("new")
    late.catch_up()
    migrator(migration, client).apply("hold")
    after, back = (
        open_running(new.design, migration),
        migrator(migration, client).items.copier("old"),
    )
    after.update(new.User.key(id="ada"), name="One")
    back.catch_up()
    after.update(new.User.key(id="ada"), name="Two")
    late.catch_up()
    assert after.get(new.User.key(id="ada")).name == "Two"


def test_a_move_asks_for_what_is_declared_no_more_and_for_what_is_new(
    client: EmbeddedClient, open_running: Running, tmp_path: Path
) -> None:
    old = declared(WHOLE, "asked_old")
    text = WHOLE.replace("mail: Any", "address: Any").replace('"Shop"', '"Moved"')
    new = declared(text.replace("id: str", "id: str\n    level: int"), "asked_new")
    before = old.design.open(client)
    before.create(old.User(id="ada", name="Ada", mail="ada@x"))
    with pytest.raises(MigrationError, match="User moves, and no longer declares mail"):
        planned(old.design, new.design, tmp_path)
    plan = tmp_path / "change.yaml"
    answer(plan, "move")
    with pytest.raises(MigrationError, match="what do existing items get as level"):
        load(plan)
    decide(plan, "user_level", 'len(item["name"])')
    migration = load(plan)
    migrator(migration, client).apply("hold")
    after = open_running(new.design, migration)
    made = new.User(id="ada", name="Ada", level=3, address="ada@x")
    assert after.get(new.User.key(id="ada")) == made
    after.update(made, address="new@x")
    migrator(migration, client).rollback()
    assert before.get(old.User.key(id="ada")).mail == "new@x"
    assert "level" not in stored(client)["USER#ada USER"]


COUNTER = next(line + "\n" for line in SHOP.splitlines() if "Counter(" in line and "opened" in line)


class Busy:
    """A client of the migrator, beside which an old application works at every request."""

    def __init__(self, client: EmbeddedClient, work: Callable[[], object]) -> None:
        self.client, self.work = client, work

    def call(self, operation: str, request: Any) -> Any:
        if operation == "Scan":
            self.work()
        return self.client.call(operation, request)

    def close(self) -> None: ...


def test_numbers_that_old_applications_do_not_keep_are_counted_in_hold(
    client: EmbeddedClient, tmp_path: Path
) -> None:
    old, new = declared(SHOP.replace(COUNTER, ""), "uncounted"), declared(SHOP, "counted")
    before = old.design.open(client)
    before.create(old.Host(host="h"))
    made = iter(range(10_000))
    busy = Busy(
        client, lambda: before.create(old.Order(id=f"o{next(made)}", host="h", state="open"))
    )
    migration = planned(old.design, new.design, tmp_path)
    told: list[str] = []
    Migrator(migration, Backend(busy), without_routers=True, say=told.append).apply("verify")
    assert "change: counters still change; hold recounts them" in told
    migrator(migration, client).apply("hold")
    after = new.design.open(client, migration=migration)
    assert after.get(new.Host.key(host="h")).opened == next(made)
    assert verify(after).clean


def test_pointers_that_both_designs_have_stay(client: EmbeddedClient, tmp_path: Path) -> None:
    once = '    once = Unique("id")\n'
    old, new = declared(SHOP.replace(once, ""), "one_pointer"), declared(SHOP, "one_pointer_new")
    before = old.design.open(client)
    before.create(old.Host(host="h"))
    migration = planned(old.design, new.design, tmp_path)
    migrator(migration, client).apply("backfill")
    before.create(old.Order(id="o", host="h", state="open"))
    was = stored(client)
    migrator(migration, client).apply("verify")
    assert "UNIQUE#Order#id#o UNIQUE" in stored(client)
    migrator(migration, client).rollback()
    assert stored(client) == was


@pytest.mark.parametrize("change", ["unique", "key"])
def test_a_pointer_that_left_and_came_back_stays(
    client: EmbeddedClient, tmp_path: Path, change: str
) -> None:
    """The migration once wrote it, but the application did after that."""
    once = '    once = Unique("id")\n'
    shop, other = SHOP.replace(COUNTER, ""), REKEYED.replace(COUNTER, "").replace(once, "")
    old = declared(shop.replace(once, ""), "came_back")
    new = declared(shop if change == "unique" else other, f"back_{change}")
    before = old.design.open(client)
    for host in "hi":
        before.create(old.Host(host=host))
    order = old.Order(id="o", host="h", state="open")
    before.create(order)
    pointer = {"PK": {"S": "OF#h"}, "SK": {"S": "ORDER#o"}}
    client.call("DeleteItem", {"TableName": "Shop", "Key": pointer})
    migration = planned(old.design, new.design, tmp_path)
    migrator(migration, client).apply("verify")
    assert "OF#h ORDER#o" in stored(client)
    before.update(order, host="i")
    before.update(old.Order.key(id="o"), host="h")
    migrator(migration, client).rollback()
    assert "OF#h ORDER#o" in stored(client)


def test_contract_is_finished_after_the_old_table_is_gone(
    client: EmbeddedClient, tmp_path: Path
) -> None:
    """It dies after it has forgotten what it did, and before it says that it is complete."""
    old = declared(SHOP, "dropped_old")
    new = declared(MOVED.replace('    once = Unique("id")\n', ""), "dropped_new")
    before = old.design.open(client)
    before.create(old.Host(host="h"))
    before.create(old.Order(id="o", host="h", state="open"))
    migration = planned(old.design, new.design, tmp_path)
    first = migrator(migration, client)
    first.apply("hold")
    forget = first.store.forget

    def die() -> None:
        forget()
        raise KeyboardInterrupt

    first.store.forget = die  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        first.apply("contract")
    assert "Shop" not in client.call("ListTables", {})["TableNames"]
    assert migrator(migration, client).apply("contract").phase == "contract"


def test_items_that_a_table_has_under_both_keys_are_counted_once(
    client: EmbeddedClient, tmp_path: Path
) -> None:
    once = '    once = Unique("id")\n'
    old = declared(SHOP.replace(COUNTER, "").replace(once, ""), "counted_once")
    new = declared(REKEYED.replace(once, ""), "counted_once_new")
    before = old.design.open(client)
    before.create(old.Order(id="o", host="h", state="open"))
    host = {"PK": {"S": "HOST#h"}, "SK": {"S": "HOST"}, "type": {"S": "Host"}, "host": {"S": "h"}}
    # As many as both sides have.
    client.call("PutItem", {"TableName": "Shop", "Item": {**host, "opened": {"N": "2"}}})
    migrator(planned(old.design, new.design, tmp_path), client).apply("hold")
    assert stored(client)["HOST#h HOST"]["opened"] == {"N": "1"}


class Dying(Backend):
    """A backend of a process that dies after some of its deletes."""

    def call(self, operation: str, request: Any) -> dict[str, Any]:
        answer = super().call(operation, request)
        if operation == "DeleteItem" and request["TableName"] == "Shop":
            raise KeyboardInterrupt
        return answer


def test_what_followed_from_moved_items_goes_although_the_migrator_died_meanwhile(
    client: EmbeddedClient, tmp_path: Path
) -> None:
    old = declared(SHOP, "died_old")
    (kept,) = (line for line in SHOP.splitlines() if line.startswith("table = "))
    text = MOVED.replace("class Host", f"shop{kept.removeprefix('table')}\nclass Host")
    new = declared(text.replace("Host(Entity, table=table)", "Host(Entity, table=shop)"), "died")
    before = old.design.open(client)
    before.create(old.Host(host="h"))
    before.create(old.Order(id="o", host="h", state="open"))
    migration = planned(old.design, new.design, tmp_path)
    migrator(migration, client).apply("hold")
    for left in (3, 2, 1):
        with pytest.raises(KeyboardInterrupt):
            Migrator(migration, Dying(client), without_routers=True).apply("contract")
        assert len(stored(client)) == left
    migrator(migration, client).apply("contract")
    assert stored(client).keys() == {"HOST#h HOST"}


RENAMED = WHOLE.replace("mail: Any", "address: str | None")


def renamed(name: str) -> tuple[Any, Any, Migration]:
    old, new = declared(WHOLE, f"{name}_old"), declared(RENAMED, f"{name}_new")
    return old, new, Migration("rename", rename(new.User, "mail", "address"))


@pytest.mark.parametrize("phase", ["verify", "hold"])
def test_applications_that_follow_write_and_clear_both_names(
    client: EmbeddedClient, open_running: Running, phase: Any
) -> None:
    old, new, migration = renamed(f"both_{phase}")
    before = old.design.open(client)
    for name in ("ada", "bo", "cy", "dee"):
        before.create(old.User(id=name, mail=f"{name}@x"))
    migrator(migration, client).apply(phase)
    after = open_running(new.design, migration)
    after.update(new.User.key(id="ada"), address="new@x")
    after.update(new.User.key(id="bo"), address=None)
    after.update(new.User.key(id="cy"), name="Cy")
    after.put(new.User(id="dee", name="Dee"))
    after.put_many([new.User(id="eve", address="eve@x")])
    mails = {user.id: user.mail for user in before.scan(old.User)}
    expected = {"ada": "new@x", "bo": None, "cy": "cy@x", "dee": None, "eve": "eve@x"}
    assert mails == expected
    migrator(migration, client).rollback()
    assert {user.id: user.mail for user in before.scan(old.User)} == expected
    assert not any("address" in item for item in stored(client).values())


def test_what_was_cleared_under_its_new_name_stays_cleared(
    client: EmbeddedClient, open_running: Running
) -> None:
    old, new, migration = renamed("cleared")
    before = old.design.open(client)
    before.create(old.User(id="ada", mail="ada@x"))
    migrator(migration, client).apply("hold")
    after = open_running(new.design, migration)
    after.update(new.User.key(id="ada"), address=None)
    migrator(migration, client).apply("contract")
    found = stored(client)["USER#ada USER"]
    assert not {"mail", "address"} & found.keys()


def test_a_renamed_attribute_needs_no_transaction(client: EmbeddedClient) -> None:
    old, new, migration = renamed("plain")
    old.design.open(client).create(old.User(id="ada", mail="ada@x"))
    migrator(migration, client).apply("verify")
    recorder = Recorder(client)
    after = new.design.open(recorder, migration=migration)
    recorder.calls.clear()
    after.update(new.User.key(id="ada"), address="new@x")
    assert "TransactWriteItems" not in [operation for operation, _ in recorder.calls]


class Recorder:
    def __init__(self, client: EmbeddedClient) -> None:
        self.client, self.calls = client, list[tuple[str, Any]]()

    def call(self, operation: str, request: Any) -> Any:
        self.calls.append((operation, request))
        return self.client.call(operation, request)

    def close(self) -> None: ...


def test_what_is_deleted_or_moved_on_during_contract_leaves_nothing_in_the_old_table(
    client: EmbeddedClient, tmp_path: Path
) -> None:
    once = '    once = Unique("id")\n'
    old = declared(SHOP.replace(once, ""), "late_old")
    (kept,) = (line for line in SHOP.splitlines() if line.startswith("table = "))
    text = REKEYED.replace('design.table("Shop"', 'design.table("Moved"').replace(once, "")
    text = text.replace("class Host", f"shop{kept.removeprefix('table')}\nclass Host")
    new = declared(text.replace("Host(Entity, table=table)", "Host(Entity, table=shop)"), "late")
    before = old.design.open(client)
    for host in "hi":
        before.create(old.Host(host=host))
    for name in ("deleted", "changed", "moved", "stays"):
        before.create(old.Order(id=name, host="h", state="open"))
    migration = planned(old.design, new.design, tmp_path)
    migrator(migration, client).apply("hold")
    last = migrator(migration, client)
    after = new.design.open(client)
    remove = last.items.remove_moved

    def beside_traffic() -> None:
        after.delete(new.Order.key(host="h", id="deleted"))
        after.update(new.Order.key(host="h", id="changed"), state="shut")
        after.delete(new.Order.key(host="h", id="changed"))
        after.delete(new.Order.key(host="h", id="moved"))
        after.create(new.Order(host="i", id="moved", state="open"))
        before.create(old.Order(id="late", host="h", state="open"))
        remove()

    last.items.remove_moved = beside_traffic  # type: ignore[method-assign]
    last.apply("contract")
    # An application that does not follow has written one of them: it is not lost.
    orders = {name for name in stored(client) if not name.startswith("HOST")}
    assert orders == {"ORDER#late ORDER", "OF#h ORDER#late"}
    assert {order.id for order in after.scan(new.Order)} == {"moved", "stays"}


def test_a_pointer_is_not_made_for_an_item_that_was_just_deleted(
    client: EmbeddedClient, tmp_path: Path
) -> None:
    old = declared(SHOP.partition("class OrderOf")[0], "without_pointer")
    new = declared(SHOP, "with_pointer")
    before = old.design.open(client)
    before.create(old.Host(host="h"))
    migration = planned(old.design, new.design, tmp_path)
    migrator(migration, client).apply("verify")
    after = new.design.open(client, migration=migration)
    before.create(old.Order(id="o", host="h", state="open"))

    class Late(Backend):
        """The application deletes an item when the migrator has read it, and before it writes."""

        def call(self, operation: str, request: Any) -> dict[str, Any]:
            if operation == "TransactWriteItems" and "ORDER#o ORDER" in stored(client):
                after.delete(new.Order.key(id="o"))
            return super().call(operation, request)

    Migrator(migration, Late(client), without_routers=True).items.copier("new").poll()
    assert stored(client).keys() == {"HOST#h HOST"}
