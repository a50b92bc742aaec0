"""The writes of a change lead from the facts of what was to the facts of what is.

Held against a store that knows no facts: dictionaries on which the intents are carried out.
"""

from __future__ import annotations

import importlib
from collections import Counter as Tally
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from tests.property.any_item import changes

from keyfold.design.address import Ref
from keyfold.design.entity import Entity
from keyfold.errors import KeyfoldError, KeyValueRefused
from keyfold.maintain.shards import AMOUNT, TYPE_NAME
from keyfold.maintain.structure import KeptStructure
from keyfold.runtime.changes import Add, Clear, Set
from keyfold.runtime.intent import Check, Delete, Intent, Marker, Put, Update

SYSTEMS = ["inviter", "search_room", "tamafriends", "gg_core", "sellers"]


def _structures() -> dict[str, KeptStructure]:
    found: dict[str, KeptStructure] = {}
    for name in SYSTEMS:
        design = importlib.import_module(f"keyfold_systems.{name}.design").design
        design.complete()
        for one in design.maintainers:
            # A value shown from elsewhere is written by the job of its origin; which of many is
            # the newest is not known from one of them.
            if isinstance(one, KeptStructure) and one.kind not in ("copy", "latest"):
                found[f"{name}: {one.label} ({one.sync})"] = one
    return found


STRUCTURES = _structures()


def _at(ref: Ref[Any]) -> str:
    if ref.entity.__spec__.type_name == TYPE_NAME and ref.entity.__spec__.role == "counter":
        # Which shard is drawn by lot; all of them together are the number.
        return f"{ref.values['counter']} {ref.values['holder']}"
    return f"{ref.entity.__table__.name} {ref.wire()}"


class Store:
    """Items by address: fields and their values."""

    def __init__(self) -> None:
        self.items: dict[str, dict[str, Any]] = {}

    def carry_out(self, intent: Intent) -> None:
        if isinstance(intent, Put):
            self.items[_at(intent.new.ref())] = dict(intent.new.__dict__)
        elif isinstance(intent, Delete):
            self.items.pop(_at(intent.ref), None)
        elif isinstance(intent, Update):
            item = self.items.setdefault(_at(intent.ref), {})
            for name, change in intent.changes.items():
                if isinstance(change, Add):
                    item[name] = item.get(name, 0) + change.amount
                elif isinstance(change, Set):
                    item[name] = change.value
                else:
                    assert isinstance(change, Clear)
                    item[name] = None
        elif isinstance(intent, Marker):
            request = intent.request
            key = request.get("Key") or request["Item"]
            names = intent.table.schema.key_attributes
            at = f"{intent.table.name} { {name: key[name] for name in names} }"
            if intent.action == "Delete":
                self.items.pop(at, None)
            else:
                self.items[at] = dict(request["Item"])
        else:
            assert isinstance(intent, Check)

    @property
    def shown(self) -> dict[str, dict[str, Any]]:
        """What is there; nothing counted is nothing, and the empty set is no value."""
        found = {}
        for at, item in self.items.items():
            values = {n: v for n, v in item.items() if v is not None and v != set()}
            if set(values) == {AMOUNT}:
                values = {AMOUNT: Decimal(values[AMOUNT])}
            if any(values.values()):
                found[at] = values
        return found


@pytest.mark.parametrize("label", STRUCTURES)
def test_writes_lead_from_what_held_to_what_holds(label: str) -> None:
    structure, wrote = STRUCTURES[label], Tally[bool]()

    @settings(
        max_examples=30,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(changes(structure.source))
    def compare(change: tuple[Entity | None, Entity | None]) -> None:
        old, new = change
        changed, fresh = Store(), Store()
        try:
            for intent in structure.writes(None, old):
                changed.carry_out(intent)
            for intent in structure.writes(None, new):
                fresh.carry_out(intent)
        except KeyfoldError:
            return  # a value that no key can hold
        try:
            writes = list(structure.writes(old, new))
        except KeyValueRefused:
            return  # it would stand at a key of another item, which cannot hold it either
        for intent in writes:
            changed.carry_out(intent)
        wrote[bool(writes)] += 1
        assert changed.shown == fresh.shown
        assert old is not new or not writes

    compare()
    assert wrote[True], "it was never seen to write"
