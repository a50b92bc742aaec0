"""Whatever a write accepts can be read back; whatever it refuses leaves the table as it was.

Models and writes are drawn at random. What must be in the table is reckoned from the shape of the
model, and compared with the stored items themselves.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.property.any_write import WAYS, World, draw_write

from keyfold import Db
from keyfold.errors import KeyfoldError
from keyfold.testing import Sandbox
from keyfold_engine.wire import BackgroundServer


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_what_is_accepted_can_be_read_and_what_is_refused_leaves_nothing(data: Any) -> None:
    world = World(data.draw)
    with Sandbox() as sandbox, sandbox.open(world.design) as db:
        write_at_random(world, sandbox, db)


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_the_same_holds_over_http(data: Any) -> None:
    world = World(data.draw)
    with (
        Sandbox() as sandbox,
        BackgroundServer(sandbox.engine) as server,
        world.design.open(server.url, create_tables=True, clock=sandbox.clock) as db,
    ):
        write_at_random(world, sandbox, db)


def write_at_random(world: World, sandbox: Sandbox, db: Db) -> None:
    draw = world.draw
    for step in range(draw(st.integers(2, 9))):
        way = draw(st.sampled_from(WAYS)) if step else "create"
        name = draw(st.sampled_from("iij"))
        if draw(st.integers(0, 3)) == 0:
            world.leave_behind(sandbox, name)
        write = draw_write(world, way, name)
        after, raw = write.effect(world.expected), sandbox.items("models")
        if after is None:
            with pytest.raises(KeyfoldError):
                write.call(db)
            assert sandbox.items("models") == raw, "a refusal leaves the table as it was"
        else:
            write.call(db)
            world.expected = after
        assert world.stored(sandbox) == world.expected
        for one in world.expected:
            assert db.get(world.ref(one)) is not None
