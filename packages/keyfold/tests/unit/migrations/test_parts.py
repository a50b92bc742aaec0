"""Items that are parts of others before a migration, or after it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from keyfold import Db, Design, Entity, Key, create, delete, put, update
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.engine import Engine
from keyfold.errors import VerifyFailed
from keyfold.migrations import (
    Backend,
    Migration,
    Migrator,
    ScanPace,
    merge,
    split,
    transform_attribute,
)

together = Design("together")
apart = Design("apart")


class Whole(Entity, table=together.table("People"), type_name="User"):
    id: str
    name: str
    address: str | None = None
    key = Key("USER#{id}", "USER")


class OldProfile(Entity, table=together.tables["People"], type_name="Profile"):
    id: str
    address: str | None = None
    key = Key("USER#{id}", "PROFILE")


class User(Entity, table=apart.table("People")):
    id: str
    name: str
    key = Key("USER#{id}", "USER")


class Profile(Entity, table=apart.tables["People"]):
    id: str
    address: str | None = None
    key = Key("USER#{id}", "PROFILE")


@pytest.fixture
def client() -> Iterator[EmbeddedClient]:
    with Engine.open(":memory:", stream_shards=3) as engine:
        yield EmbeddedClient(engine)


@pytest.fixture
def before(client: EmbeddedClient) -> Db:
    db = together.open(client)
    for name in ("ada", "bob", "cid"):
        db.create(Whole(id=name, name=name, address=f"{name}'s street"))
    return db


def splitting() -> Migration:
    return Migration("split", [split(Whole, OldProfile, fields=["address"])])


def migrator(client: EmbeddedClient, migration: Migration) -> Migrator:
    return Migrator(
        migration, Backend(client), pace=ScanPace(page=2), without_routers=True, quiet=0.0
    )


def addresses(db: Db) -> dict[str, str | None]:
    return {one.id: one.address for one in db.scan(Whole)}


def test_a_transaction_writes_an_item_and_its_part(client: EmbeddedClient, before: Db) -> None:
    migrator(client, splitting()).apply("verify")
    app = apart.open(client, migration=splitting())
    app.transact(create(User(id="dan", name="dan")), create(Profile(id="dan", address="here")))
    app.transact(update(User.key(id="ada"), name="Ada"), update(Profile.key(id="ada"), address="x"))
    app.transact(put(User(id="cid", name="Cid")), delete(Profile.key(id="cid")))
    app.transact(delete(User.key(id="bob")), delete(Profile.key(id="bob")))
    app.create(Profile(id="eve", address="first"))
    app.create(User(id="eve", name="eve"))
    assert addresses(before) == {"ada": "x", "cid": None, "dan": "here", "eve": "first"}
    assert {one.id: one.name for one in before.scan(Whole)}["ada"] == "Ada"
    migrator(client, splitting()).apply("hold")
    found = {one.id: one.address for one in app.scan(Profile)}
    assert found == {"ada": "x", "dan": "here", "eve": "first"}


def test_an_item_that_is_replaced_keeps_the_part_that_it_does_not_know(
    client: EmbeddedClient, before: Db
) -> None:
    migrator(client, splitting()).apply("verify")
    app = apart.open(client, migration=splitting())
    app.put(User(id="ada", name="Ada"), where=lambda user: user.name == "ada")
    assert before.get(Whole.key(id="ada")).address == "ada's street"
    assert before.get(Whole.key(id="ada")).name == "Ada"
    migrator(client, splitting()).apply("hold")
    assert app.get(Profile.key(id="ada")).address == "ada's street"


def test_an_item_that_is_replaced_after_the_switch_gets_its_part_back_in_a_rollback(
    client: EmbeddedClient, before: Db
) -> None:
    migrator(client, splitting()).apply("hold")
    app = apart.open(client, create_tables=False)
    app.put(User(id="ada", name="Ada"))
    app.create(Profile(id="eve", address="there"))
    app.create(User(id="eve", name="eve"))
    migrator(client, splitting()).rollback()
    assert addresses(before) == {
        "ada": "ada's street",
        "bob": "bob's street",
        "cid": "cid's street",
        "eve": "there",
    }


def test_parts_without_an_item_to_go_into_are_named_before_they_are_lost(
    client: EmbeddedClient,
) -> None:
    app = apart.open(client)
    app.create(User(id="ada", name="ada"))
    app.create(Profile(id="ada", address="here"))
    app.create(Profile(id="nobody", address="nowhere"))
    merging = Migration("merge", [merge(OldProfile, Whole, fields=["address"])])
    with pytest.raises(VerifyFailed, match=r"PROFILE.*no item to become a part of"):
        migrator(client, merging).apply("verify")
    app.delete(Profile.key(id="nobody"))
    migrator(client, merging).apply("contract")
    assert addresses(together.open(client, create_tables=False)) == {"ada": "here"}


def test_a_part_that_the_old_side_has_no_place_for_is_not_lost_in_a_rollback(
    client: EmbeddedClient, before: Db
) -> None:
    migrator(client, splitting()).apply("hold")
    app = apart.open(client, create_tables=False)
    app.create(Profile(id="nobody", address="nowhere"))
    with pytest.raises(VerifyFailed, match=r"no place for(.|\n)*USER#nobody"):
        migrator(client, splitting()).rollback()
    app.delete(Profile.key(id="nobody"))
    migrator(client, splitting()).rollback()
    assert len(addresses(before)) == 3


def test_what_the_migration_rewrites_is_no_write_of_another_application(
    client: EmbeddedClient, before: Db
) -> None:
    both = Migration("both", [transform_attribute(Whole, "name", str.title), *splitting().steps])
    migrator(client, both).apply("verify")
    running = migrator(client, both)
    running.items.copier("new").catch_up()
    assert running.store.foreign() is None
    before.update(Whole.key(id="ada"), address="elsewhere")
    running.items.copier("new").catch_up()
    foreign = running.store.foreign()
    assert foreign is not None
    assert foreign.key["PK"] == {"S": "USER#ada"}
