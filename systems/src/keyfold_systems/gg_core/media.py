"""Files in S3: a key is stored, and a link that is good for a while is made when it is read."""

from __future__ import annotations

import os
from typing import Any, Protocol

from keyfold_web import Payload

LINK_SECONDS = 900
BUCKET = "GG_CORE_BUCKET"


class Upload(Payload):
    """Where to PUT a file, and the key to post it under."""

    s3_key: str
    url: str
    content_type: str


class Signer(Protocol):
    """What is used of boto3's client for S3."""

    def generate_presigned_url(
        self, method: str, *, Params: dict[str, Any], ExpiresIn: int
    ) -> str: ...


class MediaStore:
    """A bucket, by links that it accepts until they expire."""

    def __init__(self, bucket: str, client: Signer) -> None:
        self._bucket, self._client = bucket, client

    @classmethod
    def from_environment(cls) -> MediaStore | None:
        """The bucket that GG_CORE_BUCKET names, with AWS's own settings; without it, none."""
        bucket = os.environ.get(BUCKET)
        if not bucket:
            return None
        import boto3

        return cls(bucket, boto3.client("s3"))

    def upload(self, key: str, content_type: str) -> Upload:
        """A link that takes a file of this type."""
        url = self._sign("put_object", Key=key, ContentType=content_type)
        return Upload(s3_key=key, url=url, content_type=content_type)

    def url(self, key: str) -> str:
        """A link to read a file."""
        return self._sign("get_object", Key=key)

    def _sign(self, method: str, **params: str) -> str:
        return self._client.generate_presigned_url(
            method, Params={"Bucket": self._bucket, **params}, ExpiresIn=LINK_SECONDS
        )
