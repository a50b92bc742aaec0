"""Pages, unprocessed rests and shard iterators are gone through in one place each."""

from __future__ import annotations

import re

import pytest
from tests.parts import files, module

BACKENDS = (
    "keyfold_engine/engine/",
    "keyfold_engine/features/",
    "keyfold_engine/wire/",
    "keyfold_engine/clients/",
)
"""What answers requests, or sends them without looking into them."""
PLACES = {
    r"LastEvaluatedKey|ExclusiveStartKey": "keyfold/runtime/walk.py",
    r"Unprocessed(Keys|Items)": "keyfold/runtime/walk.py",
    r"[Cc]all\(\s*\"(GetShardIterator|GetRecords|DescribeStream)\"": "keyfold/streams/shard.py",
    r"NextShardIterator|LastEvaluatedShardId|LastEvaluatedStreamArn": "keyfold/streams/shard.py",
    r"\"ProvisionedThroughputExceeded\"": "keyfold/runtime/walk.py",
}


@pytest.mark.parametrize("words", PLACES)
def test_only_one_module_knows(words: str) -> None:
    found = {
        name
        for path in files("*.py")
        if not (name := module(path)).startswith(BACKENDS) and re.search(words, path.read_text())
    }
    assert found == {PLACES[words]}
