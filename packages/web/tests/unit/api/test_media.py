"""Uploads and media behind signed links."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator
from pathlib import Path

import botocore.session
import httpx
import pytest
from starlette.applications import Starlette

from keyfold_web import Invalid, MediaLink, upload_folder
from keyfold_web.media import LocalMedia, S3Media
from keyfold_engine.clock import ManualClock

PNG = b"\x89PNG\r\n\x1a\n" + b"x" * 100


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def media(tmp_path: Path, clock: ManualClock) -> LocalMedia:
    return LocalMedia(tmp_path / "media", clock=clock)


@pytest.fixture
async def web(media: LocalMedia) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(Starlette(routes=media.routes()))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        yield client


async def put(web: httpx.AsyncClient, link: MediaLink, content: bytes = PNG) -> int:
    return (await web.put(link.url, content=content, headers=link.headers)).status_code


@pytest.mark.parametrize("key", ["avatars/mia", "a b#c?d&e", "ünï/códe", "%2e%2e/x"])
async def test_what_was_uploaded_is_downloaded_whatever_its_key(
    web: httpx.AsyncClient, media: LocalMedia, tmp_path: Path, key: str
) -> None:
    assert await put(web, media.upload(key, content_type="image/png")) == 204
    answer = await web.get(media.download(key).url)
    assert (answer.content, answer.headers["content-type"]) == (PNG, "image/png")
    assert answer.headers["content-security-policy"].startswith("sandbox")
    assert {path.name for path in tmp_path.iterdir()} == {"media"}


async def test_a_link_works_for_its_time_only(
    web: httpx.AsyncClient, media: LocalMedia, clock: ManualClock
) -> None:
    upload, download = media.upload("k", content_type="image/png"), media.download("k")
    assert await put(web, upload) == 204
    clock.advance(899)
    assert (await web.get(download.url)).status_code == 200
    clock.advance(1)
    answer = await web.get(download.url)
    assert (answer.status_code, answer.json()["code"]) == (403, "LINK_EXPIRED")
    assert await put(web, upload) == 403


async def test_a_changed_link_is_refused(web: httpx.AsyncClient, media: LocalMedia) -> None:
    link = media.upload("k", content_type="image/png", max_bytes=1000)
    await put(web, link)
    changed = [
        link.url.replace("max=1000", "max=9999999"),
        link.url.replace("/media/k", "/media/other"),
        link.url.replace("image%2Fpng", "text%2Fhtml"),
        link.url.partition("?")[0],
    ]
    for url in changed:
        answer = await web.put(url, content=PNG, headers=link.headers)
        assert (answer.status_code, answer.json()["code"]) == (403, "BAD_LINK")
    assert (await web.get(link.url)).status_code == 403
    assert (await web.put(media.download("k").url, content=PNG)).status_code == 403


async def test_size_and_type_are_held_to_the_link(
    web: httpx.AsyncClient, media: LocalMedia, tmp_path: Path
) -> None:
    link = media.upload("k", content_type="image/png", max_bytes=10)
    assert await put(web, link) == 413
    wrong = await web.put(link.url, content=b"x", headers={"content-type": "text/html"})
    assert wrong.status_code == 415
    assert (await web.get(media.download("k").url)).status_code == 404
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


async def test_a_refused_upload_leaves_what_was_there(
    web: httpx.AsyncClient, media: LocalMedia
) -> None:
    assert await put(web, media.upload("k", content_type="image/png")) == 204
    small = media.upload("k", content_type="image/png", max_bytes=1)
    assert await put(web, small, b"too large") == 413
    assert (await web.get(media.download("k").url)).content == PNG


async def test_a_folder_is_deleted_and_its_neighbours_stay(
    web: httpx.AsyncClient, media: LocalMedia, tmp_path: Path
) -> None:
    keys = ["users/mia/1", "users/mia/deep/2", "users/mia2/3", "users/mi/4", "users/mia"]
    for key in keys:
        assert await put(web, media.upload(key, content_type="image/png")) == 204
    await media.delete_folder("users/mia")
    await media.delete_folder("users/nobody")
    left = [key for key in keys if (await web.get(media.download(key).url)).status_code == 200]
    assert left == ["users/mia2/3", "users/mi/4", "users/mia"]
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 2 * len(left)


@pytest.mark.parametrize("folder", ["", "users/", "users/..", "/users"])
async def test_only_a_whole_folder_is_deleted(media: LocalMedia, folder: str) -> None:
    with pytest.raises(Invalid, match="key"):
        await media.delete_folder(folder)


def test_each_person_has_their_own_folder() -> None:
    people = ["mia", "mia/x", "mia%2Fx", "auth0|mia"]
    folders = [upload_folder(one) for one in people]
    assert len(set(folders)) == len(people)
    assert [one.count("/") for one in folders] == [1] * len(people)


def test_types_that_are_not_allowed_get_no_link(media: LocalMedia) -> None:
    with pytest.raises(Invalid, match="contentType"):
        media.upload("k", content_type="text/html")
    for key in ("", ".", "../x", "/x", "a//b", "x" * 513):
        with pytest.raises(Invalid, match="key"):
            media.upload(key, content_type="image/png")


def test_s3_links_are_presigned_with_type_size_and_expiry(clock: ManualClock) -> None:
    client = botocore.session.get_session().create_client(
        "s3", region_name="eu-west-1", aws_access_key_id="key", aws_secret_access_key="secret"
    )
    media = S3Media("bucket", client=client, clock=clock)
    upload = media.upload("avatars/mia", content_type="image/png", max_bytes=1000)
    assert upload.method == "POST"
    assert upload.fields["Content-Type"] == "image/png"
    assert upload.expires_at == clock.now() + 900
    download = media.download("avatars/mia")
    assert "avatars/mia" in download.url
    assert "Signature=" in download.url
    policy = json.loads(base64.b64decode(upload.fields["policy"]))
    assert ["content-length-range", 0, 1000] in policy["conditions"]
