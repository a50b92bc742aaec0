"""A table's physical name on a backend."""

from __future__ import annotations

import os
from collections.abc import Mapping

from keyfold.design.schema import TableSchema


def physical_name(table: TableSchema, prefix: str, names: Mapping[str, str]) -> str:
    """The entry in `names`, the environment variable, or the table's own name with the prefix."""
    override = names.get(table.name)
    if override is None and table.name_variable:
        override = os.environ.get(table.name_variable)
    return override or f"{prefix}{table.name}"
