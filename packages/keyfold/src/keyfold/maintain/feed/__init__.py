"""Feeds: pulled by default, copied for authors whose flag says so."""

from keyfold.maintain.feed.declaration import Feed
from keyfold.maintain.feed.flag import Flag, Threshold

__all__ = ["Feed", "Flag", "Threshold"]
