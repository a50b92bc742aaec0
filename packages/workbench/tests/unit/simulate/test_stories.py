"""Published incidents come out of the model."""

from __future__ import annotations

import pytest

from keyfold_workbench.simulate.assumptions import Assumptions
from keyfold_workbench.simulate.stories import STORIES, Claim, Story

CLAIMS = [(story, claim) for story in STORIES for claim in story.claims]


@pytest.mark.parametrize(
    ("story", "claim"), CLAIMS, ids=[f"{s.name[:24]}: {c.what}" for s, c in CLAIMS]
)
def test_the_model_shows_what_was_published(story: Story, claim: Claim) -> None:
    assert claim.low <= claim.shows(Assumptions()) <= claim.high


def test_a_sweep_gives_the_spread() -> None:
    counter = next(s for s in STORIES if "counter" in s.name.casefold())
    replay = counter.claims[0].replay()
    assert replay.holds
    assert replay.lowest < replay.shown < replay.highest
