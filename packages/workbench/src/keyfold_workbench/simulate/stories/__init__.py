"""Published incidents, replayed by the unmodified model."""

from __future__ import annotations

from keyfold_workbench.simulate.stories.calls import COUNTER, DEFAULTS, POLLING, STATISTICS
from keyfold_workbench.simulate.stories.capacity import BURST, DILUTION, GROWTH, ONE_KEY
from keyfold_workbench.simulate.stories.index import BACK_PRESSURE, OUTBOX
from keyfold_workbench.simulate.stories.outages import OUTAGES
from keyfold_workbench.simulate.stories.story import Claim, Replay, Story

STORIES = (
    ONE_KEY,
    BACK_PRESSURE,
    GROWTH,
    BURST,
    OUTBOX,
    POLLING,
    STATISTICS,
    COUNTER,
    DILUTION,
    DEFAULTS,
    OUTAGES,
)

__all__ = ["STORIES", "Claim", "Replay", "Story"]
