"""The type attribute says which entity an item is, so two entities of a table differ in it."""

from __future__ import annotations

import pytest

from keyfold import Design, Entity, Id, Key
from keyfold.errors import DeclarationError


def test_two_entities_of_a_table_with_one_type_name_are_refused() -> None:
    table = Design("twice").table("t")

    class Followers(Entity, table=table, type_name="Counter"):
        user_id: Id
        key = Key("USER#{user_id}", "COUNTER#FOLLOWERS")

    with pytest.raises(DeclarationError, match="Following and Followers both store 'Counter'"):

        class Following(Entity, table=table, type_name="Counter"):
            user_id: Id
            key = Key("USER#{user_id}", "COUNTER#FOLLOWING")


def test_in_two_tables_or_without_a_type_attribute_they_may() -> None:
    design = Design("apart")
    one, other = design.table("one"), design.table("other")
    untyped = design.table("untyped", type_attribute=None)

    class Old(Entity, table=one, type_name="Order"):
        order_id: Id
        key = Key("ORDER#{order_id}", "OLD")

    class New(Entity, table=other, type_name="Order"):
        order_id: Id
        key = Key("ORDER#{order_id}", "NEW")

    class Head(Entity, table=untyped, type_name="Order"):
        order_id: Id
        key = Key("ORDER#{order_id}", "HEAD")

    class Line(Entity, table=untyped, type_name="Order"):
        order_id: Id
        key = Key("ORDER#{order_id}", "LINE")
