"""The HTML pages: index, REST and GraphQL documentation.

Everything is served from here or from an installed package; nothing is loaded from elsewhere.
"""

from __future__ import annotations

from keyfold_web.pages.assets import asset_response
from keyfold_web.pages.html import (
    DocumentedService,
    Frame,
    Link,
    ListedService,
    events,
    explorer,
    frame_page,
    index,
    swagger,
)

__all__ = [
    "DocumentedService",
    "Frame",
    "Link",
    "ListedService",
    "asset_response",
    "events",
    "explorer",
    "frame_page",
    "index",
    "swagger",
]
