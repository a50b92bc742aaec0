"""The demo: every system on one data file, with its pages and a DynamoDB endpoint."""

from __future__ import annotations

from keyfold_demo.process import DemoOptions, run_demo

__all__ = ["DemoOptions", "run_demo"]
