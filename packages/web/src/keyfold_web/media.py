"""Uploads and media: signed, expiring, size- and type-limited links.

    link = media.upload("avatars/u1", content_type="image/png")     # the client PUTs there
    url = media.download("avatars/u1").url                          # made when it is read

A local folder by default, S3 where AWS is there; both are a MediaStore.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlencode

from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Route

from keyfold_web.exchange import BodyTooLarge, UnsupportedMedia, problem_answer
from keyfold_web.links import MEDIA_BYTES, MediaLink
from keyfold_web.problems import Invalid, Missing, NotAllowed, Refused, problem_for
from keyfold_web.rest import response
from keyfold_engine.clock import Clock, SystemClock
from keyfold.errors import KeyfoldError

LINK_SECONDS: Final = 900
KEY_CHARACTERS: Final = 512
IMAGES: Final = frozenset({"image/png", "image/jpeg", "image/webp", "image/gif"})


class LocalMedia:
    """Media in a folder, served by this process behind signed links.

    Files are named by a hash of their key, so no key can escape the folder.
    """

    def __init__(
        self,
        folder: Path,
        *,
        secret: bytes | None = None,
        base_url: str = "",
        types: frozenset[str] = IMAGES,
        seconds: int = LINK_SECONDS,
        clock: Clock | None = None,
    ) -> None:
        self._folder, self._base_url, self._types = folder, base_url.rstrip("/"), types
        self._secret = secret or secrets.token_bytes(32)
        self._seconds, self._clock = seconds, clock or SystemClock()

    def upload(self, key: str, *, content_type: str, max_bytes: int = MEDIA_BYTES) -> MediaLink:
        _check(key, content_type, self._types)
        claims = {"type": content_type, "max": str(max_bytes)}
        link = self._link("PUT", key, claims)
        return link.model_copy(update={"headers": {"content-type": content_type}})

    def download(self, key: str) -> MediaLink:
        return self._link("GET", key, {})

    async def delete_folder(self, folder: str) -> None:
        """Delete all uploads whose keys begin with the folder and a slash: reads what each is."""
        _check_key(folder)
        await asyncio.to_thread(self._delete_all, f"{folder}/")

    def _delete_all(self, prefix: str) -> None:
        for described in self._folder.glob("*/*.json"):
            if json.loads(described.read_bytes()).get("key", "").startswith(prefix):
                # The description goes last: without it, the file could not be found again.
                described.with_suffix(".bin").unlink(missing_ok=True)
                described.unlink(missing_ok=True)

    def routes(self) -> list[BaseRoute]:
        """GET and PUT of `/media/…`."""
        return [Route("/media/{key:path}", self._serve, methods=["GET", "PUT"])]

    def _link(self, method: str, key: str, claims: Mapping[str, str]) -> MediaLink:
        expires = int(self._clock.now()) + self._seconds
        signed = {**claims, "expires": str(expires)}
        query = urlencode({**signed, "signature": self._signature(method, key, signed)})
        url = f"{self._base_url}/media/{quote(key)}?{query}"
        return MediaLink(url=url, method=method, expires_at=expires)

    def _signature(self, method: str, key: str, claims: Mapping[str, str]) -> str:
        text = json.dumps([method, key, sorted(claims.items())])
        return hmac.new(self._secret, text.encode(), hashlib.sha256).hexdigest()

    def _verify(self, method: str, key: str, query: Mapping[str, str]) -> dict[str, str]:
        claims = {name: value for name, value in query.items() if name != "signature"}
        expected = self._signature(method, key, claims)
        if not hmac.compare_digest(expected.encode(), query.get("signature", "").encode()):
            raise NotAllowed("Invalid link.", code="BAD_LINK")
        if self._clock.now() >= int(claims["expires"]):
            raise NotAllowed("This link has expired; request a new one.", code="LINK_EXPIRED")
        return claims

    async def _serve(self, request: Request) -> Response:
        key = request.path_params["key"]
        try:
            method = "PUT" if request.method == "PUT" else "GET"
            claims = self._verify(method, key, request.query_params)
            if method == "PUT":
                return await self._take(request, key, claims)
            return await self._give(key)
        except Refused as refused:
            return response(problem_answer(problem_for(refused)))

    async def _take(self, request: Request, key: str, claims: Mapping[str, str]) -> Response:
        if request.headers.get("content-type") != claims["type"]:
            raise UnsupportedMedia(f"This link only accepts {claims['type']}.")
        most, size = int(claims["max"]), 0
        path = self._path(key)
        await asyncio.to_thread(path.parent.mkdir, parents=True, exist_ok=True)
        partial = path.with_suffix(f".{secrets.token_hex(8)}")
        described = partial.with_suffix(f"{partial.suffix}.type")
        try:
            with partial.open("wb") as file:
                async for part in request.stream():
                    size += len(part)
                    if size > most:
                        raise BodyTooLarge(f"This link accepts at most {most} bytes.")
                    await asyncio.to_thread(file.write, part)
            words = json.dumps({"type": claims["type"], "key": key})
            await asyncio.to_thread(described.write_text, words)
            # Each appears whole: others read descriptions while they are written.
            await asyncio.to_thread(os.replace, described, path.with_suffix(".json"))
            await asyncio.to_thread(os.replace, partial, path)
        except (Refused, ClientDisconnect, OSError):
            partial.unlink(missing_ok=True)
            described.unlink(missing_ok=True)
            raise
        return Response(status_code=204)

    async def _give(self, key: str) -> Response:
        path = self._path(key)
        if not path.exists():
            raise Missing("Nothing has been uploaded to this link yet.")
        kind = json.loads(path.with_suffix(".json").read_text())["type"]
        headers = {
            "content-security-policy": "sandbox; default-src 'none'",
            "content-disposition": "inline",
            "cache-control": "private, max-age=300",
        }
        return FileResponse(path, media_type=kind, headers=headers)

    def _path(self, key: str) -> Path:
        name = hashlib.sha256(key.encode()).hexdigest()
        return self._folder / name[:2] / f"{name}.bin"


class S3Media:
    """Media in an S3 bucket behind presigned links; the size limit is in the upload's policy."""

    def __init__(
        self,
        bucket: str,
        *,
        client: Any = None,
        types: frozenset[str] = IMAGES,
        seconds: int = LINK_SECONDS,
        clock: Clock | None = None,
    ) -> None:
        self._bucket, self._types, self._seconds = bucket, types, seconds
        self._clock = clock or SystemClock()
        self._client = client or _s3_client()

    def upload(self, key: str, *, content_type: str, max_bytes: int = MEDIA_BYTES) -> MediaLink:
        _check(key, content_type, self._types)
        made = self._client.generate_presigned_post(
            self._bucket,
            key,
            Fields={"Content-Type": content_type},
            Conditions=[
                {"Content-Type": content_type},
                ["content-length-range", 0, max_bytes],
            ],
            ExpiresIn=self._seconds,
        )
        return MediaLink(
            url=made["url"], method="POST", expires_at=self._expires(), fields=dict(made["fields"])
        )

    def download(self, key: str) -> MediaLink:
        url = self._client.generate_presigned_url(
            "get_object",
            Params={"Bucket": self._bucket, "Key": key},
            ExpiresIn=self._seconds,
        )
        return MediaLink(url=str(url), method="GET", expires_at=self._expires())

    async def delete_folder(self, folder: str) -> None:
        """Delete all uploads whose keys begin with the folder and a slash."""
        _check_key(folder)
        await asyncio.to_thread(self._delete_all, f"{folder}/")

    def _delete_all(self, prefix: str) -> None:
        pages = self._client.get_paginator("list_objects_v2")
        for page in pages.paginate(Bucket=self._bucket, Prefix=prefix):
            if found := [{"Key": one["Key"]} for one in page.get("Contents", ())]:
                wanted = {"Objects": found, "Quiet": True}
                answer = self._client.delete_objects(Bucket=self._bucket, Delete=wanted)
                if left := answer.get("Errors"):
                    raise KeyfoldError(
                        f"{len(left)} uploads of {prefix} were not deleted: {left[0]['Message']}"
                    )

    def _expires(self) -> int:
        return int(self._clock.now()) + self._seconds


def _check(key: str, content_type: str, types: frozenset[str]) -> None:
    _check_key(key)
    if content_type not in types:
        raise Invalid("contentType", f"must be one of {', '.join(sorted(types))}")


def _check_key(key: str) -> None:
    if not 1 <= len(key) <= KEY_CHARACTERS:
        raise Invalid("key", f"must have 1 to {KEY_CHARACTERS} characters")
    if {"", ".", ".."} & set(key.split("/")):
        raise Invalid("key", "must not have empty or dotted parts")


def _s3_client() -> Any:
    import botocore.session

    return botocore.session.get_session().create_client("s3")
