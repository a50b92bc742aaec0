"""Wire values: numbers, order, size, validation, and conversion to and from Python."""

from __future__ import annotations

from typing import Any

AttributeValue = dict[str, Any]
Item = dict[str, AttributeValue]
