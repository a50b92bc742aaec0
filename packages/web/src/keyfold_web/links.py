"""The interface between services and media stores."""

from __future__ import annotations

from typing import Final, Protocol

from pydantic import Field

from keyfold_web.names import Payload

MEDIA_BYTES: Final = 10 * 1024 * 1024


class MediaLink(Payload):
    """How a client uploads or downloads: a method, a URL and fields."""

    url: str
    method: str
    expires_at: int
    headers: dict[str, str] = Field(default_factory=dict)
    fields: dict[str, str] = Field(default_factory=dict)


def upload_folder(user_id: str) -> str:
    """The folder of a person's uploads, which is deleted with their data."""
    return f"users/{user_id.replace('%', '%25').replace('/', '%2F')}"


class MediaStore(Protocol):
    """A store of media; services keep keys and create links on read."""

    def upload(self, key: str, *, content_type: str, max_bytes: int = MEDIA_BYTES) -> MediaLink: ...

    def download(self, key: str) -> MediaLink: ...

    async def delete_folder(self, folder: str) -> None:
        """Delete all uploads whose keys begin with the folder and a slash."""
