"""`python -m bench.verification --items 1000000`: `verify` of many items, its time and its memory.

The items are posts with two copies and five counted likes each, written past the maintainers into
a file. It is filled in one process, and verified in another.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from keyfold import Counter, Db, Design, Entity, Id, Key, Pointer
from keyfold.maintain.verify import verify
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.engine import Engine

ROOT = Path(__file__).parents[1]
COPIES, LIKES, BATCH = 2, 5, 25
ITEMS_OF_A_POST = 1 + COPIES + LIKES

design = Design("verified")
table = design.table("verified")


class Post(Entity, table=table):
    post_id: Id
    title: str
    group_ids: set[str] = Field(default_factory=set)
    likes: Annotated[int, Counter("Like")] = 0
    key = Key("POST#{post_id}", "POST")


class GroupPost(Pointer[Post], table=table, each="group_ids"):
    group_id: Id
    post_id: Id
    title: str
    key = Key("GROUP#{group_id}", "POST#{post_id}")


class Like(Entity, table=table):
    post_id: Id
    user_id: Id
    key = Key("POST#{post_id}", "LIKE#{user_id}")


def items(posts: int) -> Iterator[Entity]:
    for number in range(posts):
        post_id, title = f"p{number}", f"post number {number}"
        groups = [f"g{(number * 7919 + one * 104_729) % 10_007}" for one in range(COPIES)]
        yield Post(post_id=post_id, title=title, group_ids=set(groups), likes=LIKES)
        for group_id in groups:
            yield GroupPost(group_id=group_id, post_id=post_id, title=title)
        for one in range(LIKES):
            yield Like(post_id=post_id, user_id=f"u{one}")


def opened(path: Path) -> Db:
    return design.open(EmbeddedClient(Engine.open(str(path), durability="relaxed")))


def fill(path: Path, count: int) -> None:
    db = opened(path)
    db.create_tables()
    made = items(count // ITEMS_OF_A_POST)
    while batch := list(islice(made, BATCH)):
        puts = [{"PutRequest": {"Item": one.__spec__.encode(one)}} for one in batch]
        db.client.call("BatchWriteItem", {"RequestItems": {"verified": puts}})
    db.close()


def look(path: Path) -> dict[str, Any]:
    """Verify once; the time of the clock and of the processor, and the most memory."""
    db = opened(path)
    clock, processor = time.perf_counter(), time.process_time()
    report = verify(db)
    found = {
        "seconds": time.perf_counter() - clock,
        "processor": time.process_time() - processor,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "scanned": report.scanned,
        "clean": report.clean,
    }
    db.close()
    return found


def elsewhere(work: str, path: Path, count: int) -> dict[str, Any]:
    """Do it in another process."""
    command = [sys.executable, __file__, "--do", work, "--file", str(path), "--items", str(count)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench.verification", description=__doc__)
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--do", choices=("fill", "look"), help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.do == "fill":
        fill(given.file, given.items)
        print("{}")
        return 0
    if given.do == "look":
        print(json.dumps(look(given.file)))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "verified.db"
        elsewhere("fill", path, given.items)
        for _ in range(given.rounds):
            found = elsewhere("look", path, given.items)
            assert found["clean"], found
            print(
                f"{found['scanned']:,} items, {found['seconds']:.1f} s, of the "
                f"processor {found['processor']:.1f} s, at most {found['megabytes']:.0f} MB",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
