"""Feeds: what somebody follows, newest first."""

from keyfold.maintain.feed import Feed, Flag, Threshold

__all__ = ["Feed", "Flag", "Threshold"]
