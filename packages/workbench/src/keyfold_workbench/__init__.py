"""Tools to look at designs and their data."""

from __future__ import annotations

from keyfold_engine import expect_version

__version__ = "0.1.0"
expect_version("keyfold-workbench", __version__)
