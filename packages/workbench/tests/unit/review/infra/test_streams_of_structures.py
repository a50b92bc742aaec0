"""Exports have a stream and a consumer for all that the stream has to keep right."""

from __future__ import annotations

from typing import Annotated

from keyfold import Counter, Design, Entity, Id, Key, Pointer, Timestamp, Ttl, Unique
from keyfold_workbench.infra.permissions import application
from keyfold_workbench.infra.plan import plan


def test_pointers_that_may_overflow_have_a_consumer() -> None:
    design = Design("posts")
    table = design.table("Posts", stream="NEW_AND_OLD_IMAGES")

    class Post(Entity, table=table):
        post: Id
        groups: set[str] = set()
        key = Key("POST#{post}", "POST")

    class PostIn(Pointer[Post], table=table, each="groups", overflow="stream"):
        group: str
        post: Id
        key = Key("GROUP#{group}", "POST#{post}")

    made = plan(design.schema)
    assert [(c.table.name, c.keeps) for c in made.consumers] == [("Posts", ("pointer PostIn",))]


def test_what_expiry_leaves_behind_has_a_consumer() -> None:
    design = Design("temporary")
    table = design.table("Temporary", ttl="ttl")

    class Holder(Entity, table=table):
        holder: Id
        held: Annotated[int, Counter("Held")] = 0
        key = Key("HOLDER#{holder}", "HOLDER")

    class Held(Entity, table=table):
        holder: Id
        held: Id
        code: str = ""
        gone_at: Annotated[Timestamp | None, Ttl()] = None
        key = Key("HOLDER#{holder}", "HELD#{held}")
        one_code = Unique("code")

    (consumer,) = plan(design.schema).consumers
    assert set(consumer.keeps) == {"counter Holder.held", "unique Held.code"}


def test_a_design_that_needs_no_stream_gets_none() -> None:
    design = Design("plain")
    table = design.table("Plain")

    class Holder(Entity, table=table):
        holder: Id
        held: Annotated[int, Counter("Held")] = 0
        key = Key("HOLDER#{holder}", "HOLDER")

    class Held(Entity, table=table):
        holder: Id
        held: Id
        key = Key("HOLDER#{holder}", "HELD#{held}")

    made = plan(design.schema)
    assert made.consumers == ()
    (write,) = [s for s in application(made, lambda t, _: t.name) if s["Sid"] == "Write"]
    assert "dynamodb:UpdateItem" in write["Action"]
