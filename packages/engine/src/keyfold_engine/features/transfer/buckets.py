"""Buckets: directories that stand for S3 buckets, below the engine's `buckets` directory."""

from __future__ import annotations

from pathlib import Path

from keyfold_engine.engine.database import Database
from keyfold_engine.errors import ValidationError


def bucket(database: Database, name: str, prefix: str | None) -> Path:
    """The directory of a bucket, or of a prefix in it."""
    root = database.buckets
    if root is None:
        raise ValidationError(
            "This engine has no buckets: open it with buckets=DIRECTORY, whose subdirectories are "
            "the buckets"
        )
    directory = (root / name / (prefix or "")).resolve()
    if not directory.is_relative_to((root / name).resolve()):
        raise ValidationError(f"The prefix {prefix!r} leaves the bucket {name}")
    return directory
