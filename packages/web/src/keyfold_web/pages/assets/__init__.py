"""Scripts and styles: our own, and Swagger UI and ReDoc from an installed package."""

from __future__ import annotations

from functools import cache
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
    "sign-in.js": "text/javascript",
}
_INSTALLED: Final = {
    "swagger-ui-bundle.js": "text/javascript",
    "swagger-ui.css": "text/css",
    "redoc.standalone.js": "text/javascript",
}


def asset_response(name: str) -> Response:
    """One file, by its name in a fixed list."""
    if name in _OURS:
        content = (resources.files(__name__) / name).read_bytes()
        return Response(content, media_type=_OURS[name])
    if name in _INSTALLED:
        content = _read_asset(name)
        headers = {"cache-control": "max-age=86400"}
        return Response(content, media_type=_INSTALLED[name], headers=headers)
    raise HTTPException(404)


@cache
def _read_asset(name: str) -> bytes:
    content = (resources.files("fastapi_offline") / "static" / name).read_bytes()
    # ReDoc would fetch its vendor's logo; pages here load nothing from elsewhere.
    return content.replace(b"https://cdn.redoc.ly/redoc/logo-mini.svg", b"data:,")
