"""What services know of media: a store that makes links."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Protocol

MEDIA_BYTES: Final = 10 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class MediaLink:
    """What a client does to upload or download: this method on this URL with these."""

    url: str
    method: str
    expires_at: int
    headers: dict[str, str] = field(default_factory=dict)
    fields: dict[str, str] = field(default_factory=dict)


class MediaStore(Protocol):
    """Where media is kept; services store keys and make links when they are read."""

    def upload(self, key: str, *, content_type: str, max_bytes: int = MEDIA_BYTES) -> MediaLink: ...

    def download(self, key: str) -> MediaLink: ...
