"""The hybrid feed: pulled by default, pushed where it pays."""

from keyfold.maintain.feed.declaration import Feed
from keyfold.maintain.feed.policy import Decision, FeedPolicy
from keyfold.maintain.feed.reach import FeedReach
from keyfold.maintain.feed.removed_list import RemovedList

__all__ = ["Decision", "Feed", "FeedPolicy", "FeedReach", "RemovedList"]
