"""All incidents with the model's figures, as a document and as data."""

from __future__ import annotations

from functools import cache
from math import isinf
from typing import Any

from keyfold_workbench.cost.amounts import number
from keyfold.review.docs.blocks import Document, Grid, Paragraph, Section, anchor
from keyfold_workbench.simulate.stories import STORIES
from keyfold_workbench.simulate.stories.story import Replay, Story


@cache
def _replays() -> tuple[tuple[Story, tuple[Replay, ...]], ...]:
    return tuple((story, tuple(claim.replay() for claim in story.claims)) for story in STORIES)


def document() -> Document:
    told = [(story, replays) for story, replays in _replays()]
    good = sum(all(replay.holds for replay in replays) for _, replays in told)
    summary = (
        f"The model reproduces {good} of {len(told)} published incidents. "
        "The spread shows other plausible values of unpublished figures."
    )
    sections = tuple(
        Section(
            story.name,
            anchor(story.name),
            (
                Paragraph(f"{story.source}."),
                Grid(
                    ("Figure", "Published", "Model", "Spread", "Holds"),
                    tuple(_row(replay) for replay in replays),
                ),
                Paragraph(story.lesson),
            ),
        )
        for story, replays in told
    )
    return Document("Published incidents, replayed", summary, sections)


def _row(replay: Replay) -> tuple[str, ...]:
    claim = replay.claim
    low, high = _figure(replay.lowest), _figure(replay.highest)
    spread = "not swept" if not claim.sweeps else f"{low} to {high}" if low != high else low
    shown = f"{_figure(replay.shown)}{claim.unit}"
    return (claim.what, claim.published, shown, spread, "yes" if replay.holds else "no")


def _figure(value: float) -> str:
    return "never" if isinf(value) else number(value)


def plain() -> dict[str, Any]:
    return {
        "stories": [
            {
                "name": story.name,
                "source": story.source,
                "claims": [
                    {
                        "what": replay.claim.what,
                        "published": replay.claim.published,
                        "shown": None if isinf(replay.shown) else replay.shown,
                        "lowest": None if isinf(replay.lowest) else replay.lowest,
                        "highest": None if isinf(replay.highest) else replay.highest,
                        "unit": replay.claim.unit.strip(),
                        "holds": replay.holds,
                    }
                    for replay in replays
                ],
            }
            for story, replays in _replays()
        ]
    }
