"""What services know of media: a store that makes links."""

from __future__ import annotations

from typing import Final, Protocol

from pydantic import Field

from keyfold.api.names import Payload

MEDIA_BYTES: Final = 10 * 1024 * 1024


class MediaLink(Payload):
    """What a client does to upload or download: this method on this URL with these."""

    url: str
    method: str
    expires_at: int
    headers: dict[str, str] = Field(default_factory=dict)
    fields: dict[str, str] = Field(default_factory=dict)


class MediaStore(Protocol):
    """Where media is kept; services store keys and make links when they are read."""

    def upload(self, key: str, *, content_type: str, max_bytes: int = MEDIA_BYTES) -> MediaLink: ...

    def download(self, key: str) -> MediaLink: ...
