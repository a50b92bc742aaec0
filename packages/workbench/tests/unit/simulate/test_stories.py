"""Published incidents come out of the model."""

from __future__ import annotations

import pytest
from tests.unit.simulate.stories import STORIES, Claim, Story

from keyfold_workbench.simulate.assumptions import Assumptions

CLAIMS = [(story, claim) for story in STORIES for claim in story.claims]


@pytest.mark.parametrize(
    ("story", "claim"), CLAIMS, ids=[f"{s.name[:24]}: {c.what}" for s, c in CLAIMS]
)
def test_the_model_shows_what_was_published(story: Story, claim: Claim) -> None:
    assert claim.low <= claim.shows(Assumptions()) <= claim.high
