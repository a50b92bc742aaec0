"""Pages, unprocessed rests and shard iterators are gone through in one place each."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
BACKENDS = ("keyfold/engine/", "keyfold/wire/", "keyfold/clients/")
"""What answers requests, or sends them without looking into them."""
PLACES = {
    r"LastEvaluatedKey|ExclusiveStartKey": "keyfold/runtime/walk.py",
    r"Unprocessed(Keys|Items)": "keyfold/runtime/walk.py",
    r"\.call\(\s*\"(GetShardIterator|GetRecords|DescribeStream)\"": "keyfold/streams/shard.py",
    r"Call\(\"(GetShardIterator|GetRecords|DescribeStream)\"": "keyfold/streams/shard.py",
    r"NextShardIterator|LastEvaluatedShardId|LastEvaluatedStreamArn": "keyfold/streams/shard.py",
    r"\"ProvisionedThroughputExceeded\"": "keyfold/runtime/walk.py",
}


@pytest.mark.parametrize("words", PLACES)
def test_only_one_module_knows(words: str) -> None:
    found = {
        name
        for path in SOURCE.rglob("*.py")
        if not (name := path.relative_to(SOURCE).as_posix()).startswith(BACKENDS)
        and re.search(words, path.read_text())
    }
    assert found <= {PLACES[words]}
