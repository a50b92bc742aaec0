"""Sizes, costs and templates of keys that are derived, of several attributes, or got together."""

from __future__ import annotations

from tests.unit.design.test_derived_keys import design as derived
from tests.unit.design.test_keys_of_several_attributes import design as several
from tests.unit.runtime.test_get_patterns import design as together

from keyfold_workbench.cost.design_numbers import DesignNumbers
from keyfold_workbench.cost.reads import read
from keyfold_workbench.cost.sizes import attributes
from keyfold_workbench.cost.workload import Workload
from keyfold_workbench.infra import cloudformation, terraform


def test_what_stands_only_in_a_key_is_priced_there() -> None:
    sizes = attributes(derived.schema, derived.schema.by_entity["Line"])
    assert sizes.keys() == {"PK", "SK", "text", "GSI1PK", "GSI1SK", "createdAt"}


def test_the_cost_counts_no_attribute_twice() -> None:
    sizes = attributes(several.schema, several.schema.by_entity["Flat"])
    assert {"country", "city", "rooms", "rent"} <= sizes.keys()
    assert not [name for name in sizes if "," in name]


def test_templates_for_infrastructure_have_every_key_attribute() -> None:
    made = cloudformation.render(several.schema)
    assert made.count("KeyType: HASH") + made.count('"KeyType": "HASH"') == 5
    assert terraform.render(several.schema).count("key_schema") == 8


def test_items_got_together_cost_twice_as_much() -> None:
    schema = together.schema
    once = read(DesignNumbers(schema, Workload()), schema.by_pattern["both"])
    assert (once.requests, once.items, once.units) == (1.0, 2.0, 4.0)
