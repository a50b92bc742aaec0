"""Scripts and styles: our own, and Swagger UI from an installed package."""

from __future__ import annotations

from importlib import resources
from typing import Final

from starlette.exceptions import HTTPException
from starlette.responses import Response

_OURS: Final = {
    "app.css": "text/css",
    "app.js": "text/javascript",
    "bar.js": "text/javascript",
    "colours.css": "text/css",
    "site.css": "text/css",
    "theme.js": "text/javascript",
    "docs.js": "text/javascript",
    "drawing.js": "text/javascript",
    "events.js": "text/javascript",
    "examples.js": "text/javascript",
    "explorer.js": "text/javascript",
    "query-text.js": "text/javascript",
}
_INSTALLED: Final = {
    "swagger-ui-bundle.js": "text/javascript",
    "swagger-ui.css": "text/css",
}


def asset_response(name: str) -> Response:
    """One file, by its name in a fixed list."""
    if name in _OURS:
        content = (resources.files(__name__) / name).read_bytes()
        return Response(content, media_type=_OURS[name])
    if name in _INSTALLED:
        content = (resources.files("fastapi_offline") / "static" / name).read_bytes()
        headers = {"cache-control": "max-age=86400"}
        return Response(content, media_type=_INSTALLED[name], headers=headers)
    raise HTTPException(404)
