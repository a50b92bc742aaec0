"""Buckets: directories that stand for those of S3, below one that the engine was opened with."""

from __future__ import annotations

from pathlib import Path

from keyfold.engine.database import Database
from keyfold.errors import ValidationError


def bucket(database: Database, name: str, prefix: str | None) -> Path:
    """The directory of a bucket, or of a prefix in it."""
    root = database.buckets
    if root is None:
        raise ValidationError(
            "This engine has no place for buckets: open it with buckets=DIRECTORY, where a bucket "
            "is a directory"
        )
    directory = (root / name / (prefix or "")).resolve()
    if not directory.is_relative_to((root / name).resolve()):
        raise ValidationError(f"The prefix {prefix!r} leads out of the bucket {name}")
    return directory
