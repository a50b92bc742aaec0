"""The hybrid feed: pulled by default, pushed where it pays."""

from keyfold.maintain.feed.declaration import Feed
from keyfold.maintain.feed.policy import (
    Decision,
    Rates,
    ReaderChoice,
    ReaderRates,
    choose,
    choose_for_reader,
)

__all__ = [
    "Decision",
    "Feed",
    "Rates",
    "ReaderChoice",
    "ReaderRates",
    "choose",
    "choose_for_reader",
]
