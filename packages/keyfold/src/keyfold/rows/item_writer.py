"""Writes a design's items to a backend: in batches, or with their consequences if they have any."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import groupby
from typing import cast

from keyfold.design.design import Declarations
from keyfold.design.entity import Entity
from keyfold.errors import KeyfoldError
from keyfold.runtime import Db, Design
from keyfold.runtime.walk import in_chunks
from keyfold.settings import Settings

BATCH = 500


def store(
    design: Declarations,
    items: Iterable[Entity],
    current: Settings,
    progress: Callable[[int], None] | None = None,
) -> int:
    """Put the items together with their pointers, counters and uniques."""
    if not isinstance(design, Design):
        raise KeyfoldError(
            f"{design.name} cannot be opened: it is declared with keyfold.design alone"
        )
    with design.open(
        current.backend, table_prefix=current.table_prefix, table_names=current.table_names
    ) as db:
        return put(db, items, progress)


def put(db: Db, items: Iterable[Entity], progress: Callable[[int], None] | None = None) -> int:
    """Put the items through an open design; returns how many."""
    done = 0
    for kind, some in groupby(items, type):
        # A batch cannot check that a new item begins in a state where it may.
        if db.context.design.joining(kind) or cast("type[Entity]", kind).__spec__.states:
            for entity in some:
                db.create(entity)
                done += 1
                if progress is not None:
                    progress(done)
            continue
        for chunk in in_chunks(some, BATCH):
            done += db.put_many(chunk)
            if progress is not None:
                progress(done)
    return done
