"""Uploads in buckets of other people's servers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import httpx
import pytest
from botocore.config import Config
from botocore.session import get_session

from keyfold_web.media import S3Media

from .conftest import CREDENTIALS, ministack, moto

SERVERS: dict[str, Callable[[Path], AbstractContextManager[str]]] = {
    "moto": moto,
    "ministack": ministack,
}


@pytest.fixture(scope="module", params=SERVERS)
def s3(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with SERVERS[request.param](tmp_path_factory.mktemp(request.param)) as url:
        session = get_session()
        session.set_credentials(
            CREDENTIALS["AWS_ACCESS_KEY_ID"], CREDENTIALS["AWS_SECRET_ACCESS_KEY"]
        )
        # Without a name service, buckets are in the path.
        by_path = Config(s3={"addressing_style": "path"})
        yield session.create_client("s3", region_name="us-east-1", endpoint_url=url, config=by_path)


async def test_a_picture_is_sent_and_read_by_links_and_goes_with_its_folder(s3: Any) -> None:
    s3.create_bucket(Bucket="pictures")
    media = S3Media("pictures", client=s3)
    for key in ("users/mia/1", "users/mia2/2"):
        link = media.upload(key, content_type="image/png")
        sent = httpx.post(link.url, data=link.fields, files={"file": b"picture"})
        assert sent.is_success, sent.text
        assert httpx.get(media.download(key).url).content == b"picture"
    await media.delete_folder("users/mia")
    found = s3.list_objects_v2(Bucket="pictures")["Contents"]
    assert [one["Key"] for one in found] == ["users/mia2/2"]


async def test_a_folder_of_more_uploads_than_a_page_lists_goes_whole(s3: Any) -> None:
    s3.create_bucket(Bucket="many")
    for number in range(1005):
        s3.put_object(Bucket="many", Key=f"users/mia/{number}", Body=b"")
    await S3Media("many", client=s3).delete_folder("users/mia")
    assert "Contents" not in s3.list_objects_v2(Bucket="many")
