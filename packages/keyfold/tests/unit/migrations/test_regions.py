"""Regions of a design: a plan asks for its replicas, makes them, and takes them back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from keyfold import Design, Entity, Key, Replication
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold.design.schema import Schema
from keyfold_engine.engine.replication import Regions
from keyfold.errors import MigrationError
from keyfold.migrations import AddReplica, Backend, Migration, Migrator, RemoveReplica, diff, load
from keyfold.migrations.plan import draft
from keyfold.migrations.refusals import Dangerous
from keyfold.migrations.snapshot import dump
from keyfold.migrations.snapshot import load as load_snapshot

from .answers import answer

TWO = Replication(("us-east-1", "eu-west-1"))
THREE = Replication(("us-east-1", "us-east-2", "us-west-2"), conflict="refused")


def users(replication: Replication | None) -> Design:
    made = Design("users")

    class User(Entity, table=made.table("Users", replication=replication)):
        user_id: str
        key = Key("USER#{user_id}", "USER")

    return made


def schema(replication: Replication | None) -> Schema:
    return load_snapshot(dump(users(replication).schema))


@pytest.fixture
def backend() -> Iterator[Backend]:
    regions = Regions()
    yield Backend(EmbeddedClient(regions.engine("us-east-1")))
    regions.close()


def test_a_snapshot_keeps_the_regions_of_a_table() -> None:
    assert schema(THREE).by_table["Users"].replication == THREE
    assert diff(schema(TWO), users(TWO).schema) == []


def test_other_regions_are_said_and_asked_for(tmp_path: Path) -> None:
    plan = draft("0001_abroad", schema(None), schema(TWO)).save(tmp_path)
    assert "the regions of Users change from one region to eu-west-1, us-east-1" in plan.read_text()
    with pytest.raises(MigrationError, match="Without a step the table stays where it is"):
        load(plan)
    answer(plan, "AddReplica")
    assert load(plan).steps == (AddReplica("Users", "eu-west-1"),)


def test_where_a_table_is_at_home_needs_no_plan() -> None:
    home = Replication(TWO.regions, home="eu-west-1")
    assert diff(schema(TWO), schema(home)) == []


def test_a_table_that_refuses_conflicts_does_not_change_its_regions() -> None:
    with pytest.raises(Dangerous, match="while it is empty"):
        draft("x", schema(TWO), schema(THREE))
    with pytest.raises(Dangerous, match="while it is empty"):
        draft("x", schema(THREE), schema(None))


def test_a_new_table_that_refuses_conflicts_is_asked_for(tmp_path: Path) -> None:
    plan = draft("0001_new", Schema("users"), schema(THREE)).save(tmp_path)
    with pytest.raises(MigrationError, match="Is that done"):
        load(plan)


def test_a_replica_is_made_and_taken_back(backend: Backend) -> None:
    users(None).open(backend.client)
    abroad = Migrator(Migration("abroad", [AddReplica("Users", "eu-west-1")]), backend)
    abroad.apply("hold")
    assert backend.regions("Users") == {"us-east-1", "eu-west-1"}
    abroad.rollback()
    assert backend.regions("Users") == {"us-east-1"}
    abroad.apply("contract")
    home = Migration("home", [RemoveReplica("Users", "eu-west-1")])
    migrator = Migrator(home, backend, without_routers=True)
    migrator.apply("hold")
    assert backend.regions("Users") == {"us-east-1", "eu-west-1"}
    migrator.apply("contract")
    assert backend.regions("Users") == {"us-east-1"}
