"""A service's page for people: files in the folder `page` beside the service's module.

`index.html` is what stands in the page's middle, `page.js` and `page.css` are its own script and
look; the frame around them, signing in and the look of everything are shared. Served under the
service at `/app/`.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from keyfold_web import pages
from keyfold_web.pages import Frame
from keyfold_web.service import Service

PATH: Final = "/app/"
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "media-src 'self' blob:; font-src 'self'; connect-src 'self'; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'"
)
_TYPES: Final = {
    ".css": "text/css",
    ".gif": "image/gif",
    ".jpg": "image/jpeg",
    ".js": "text/javascript",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".webp": "image/webp",
    ".woff2": "font/woff2",
}


@dataclass(frozen=True, slots=True)
class ServicePage:
    """The folder of a service's page, and its frame."""

    folder: Path
    frame: Frame

    def routes(self) -> list[Route]:
        return [
            Route(PATH.rstrip("/"), self._redirect),
            Route(PATH, self._document),
            Route(f"{PATH}{{name:path}}", self._file),
        ]

    async def _redirect(self, _request: Request) -> Response:
        # Its links are relative, so the address must end with a slash.
        return RedirectResponse(f"{PATH.strip('/')}/", 308)

    async def _document(self, _request: Request) -> Response:
        content = (self.folder / "index.html").read_text("utf-8")
        headers = {"content-security-policy": _POLICY, "cache-control": "no-cache"}
        return HTMLResponse(pages.frame_page(self.frame, content), headers=headers)

    async def _file(self, request: Request) -> Response:
        file = (self.folder / request.path_params["name"]).resolve()
        kind = _TYPES.get(file.suffix)
        if kind is None or not file.is_relative_to(self.folder) or not file.is_file():
            raise HTTPException(404)
        headers = {"cache-control": "no-cache"}
        return Response(file.read_bytes(), media_type=kind, headers=headers)


def page_folder(service: type[Service]) -> Path | None:
    """The folder of a service's page, if it has one."""
    file = getattr(sys.modules.get(service.__module__), "__file__", None)
    if file is None:
        return None
    folder = Path(file).resolve().parent
    return folder / "page" if has_page(folder) else None


def has_page(folder: Path) -> bool:
    """Whether a package contains a page."""
    return (folder / "page" / "index.html").is_file()
