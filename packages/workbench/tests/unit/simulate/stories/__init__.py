"""Published incidents, replayed by the unmodified model."""

from __future__ import annotations

from tests.unit.simulate.stories.calls import COUNTER, DEFAULTS, POLLING, STATISTICS
from tests.unit.simulate.stories.capacity import BURST, GROWTH, ONE_KEY
from tests.unit.simulate.stories.index import BACK_PRESSURE, OUTBOX
from tests.unit.simulate.stories.outages import OUTAGES
from tests.unit.simulate.stories.story import Claim, Story

STORIES = (
    ONE_KEY,
    BACK_PRESSURE,
    GROWTH,
    BURST,
    OUTBOX,
    POLLING,
    STATISTICS,
    COUNTER,
    DEFAULTS,
    OUTAGES,
)

__all__ = ["STORIES", "Claim", "Story"]
