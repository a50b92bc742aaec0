"""The document's migration notes: both indexes, their attributes on old listings, and the TTL.

A table from before its indexes becomes this design's while it is used. No key is rewritten.
"""

from __future__ import annotations

from pathlib import Path

from keyfold.migrations import load

migration = load(Path(__file__).parent / "migrations" / "indexes.yaml")
