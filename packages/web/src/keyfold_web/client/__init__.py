"""A typed Python client, written from a service's operations."""

from __future__ import annotations

from keyfold_web.client.module import client_source

__all__ = ["client_source"]
