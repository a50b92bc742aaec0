"""Throughput of tables and indexes: its changes, and warm throughput."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from keyfold_engine.errors import parameter_invalid

_UNITS = ("ReadCapacityUnits", "WriteCapacityUnits")
_WARM = {"ReadUnitsPerSecond": "ReadCapacityUnits", "WriteUnitsPerSecond": "WriteCapacityUnits"}
WARM_ON_DEMAND = {"ReadUnitsPerSecond": 12_000, "WriteUnitsPerSecond": 4_000}

Definition = Mapping[str, Any]


def changed(before: Definition, units: Definition, now: float) -> dict[str, Any]:
    """The definition entries for a change of units."""
    old = before.get("ProvisionedThroughput")
    noted = dict(before.get("ThroughputChanges", {}))
    if old is not None:
        if any(units[unit] > old[unit] for unit in _UNITS):
            noted["LastIncreaseDateTime"] = now
        if any(units[unit] < old[unit] for unit in _UNITS):
            noted["Decreases"] = decreases_today(before, now) + 1
            noted["LastDecreaseDateTime"] = now
    made: dict[str, Any] = {"ProvisionedThroughput": dict(units)}
    if noted:
        made["ThroughputChanges"] = noted
    return made


def decreases_today(definition: Definition, now: float) -> int:
    """How often units were decreased on this UTC day."""
    noted = definition.get("ThroughputChanges", {})
    last = noted.get("LastDecreaseDateTime")
    if last is None or _day(last) != _day(now):
        return 0
    decreases: int = noted["Decreases"]
    return decreases


def _day(moment: float) -> str:
    return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d}"


def described(definition: Definition, now: float) -> dict[str, Any]:
    """The ProvisionedThroughputDescription of a table or index."""
    units = definition.get("ProvisionedThroughput", dict.fromkeys(_UNITS, 0))
    noted = definition.get("ThroughputChanges", {})
    moments = ("LastIncreaseDateTime", "LastDecreaseDateTime")
    return {
        **{name: noted[name] for name in moments if name in noted},
        "NumberOfDecreasesToday": decreases_today(definition, now),
        **units,
    }


def usual_warmth(definition: Definition, billing: str) -> dict[str, int]:
    """The default warm throughput of a table or index."""
    if billing == "PAY_PER_REQUEST":
        return WARM_ON_DEMAND
    units = definition.get("ProvisionedThroughput", dict.fromkeys(_UNITS, 0))
    return {warm: units[unit] for warm, unit in _WARM.items()}


def check_first_warmth(definition: Definition, billing: str, of: str) -> None:
    """A new table's warm throughput must be at least the default."""
    for name, wanted in (definition.get("WarmThroughput") or {}).items():
        if wanted < usual_warmth(definition, billing)[name]:
            least = (
                "initial throughput for OnDemand."
                if billing == "PAY_PER_REQUEST"
                else f"{_WARM[name]} of ProvisionedThroughput"
            )
            raise parameter_invalid(
                f"Requested {name} for WarmThroughput for {of} is lower than {least}"
            )


def check_warmer(definition: Definition, billing: str, wish: Definition, of: str) -> None:
    """Warm throughput can only increase."""
    now = {**usual_warmth(definition, billing), **definition.get("WarmThroughput", {})}
    for name, wanted in wish.items():
        if wanted < now[name]:
            raise parameter_invalid(
                f"Requested {name} for WarmThroughput for {of} is lower than current "
                "WarmThroughput, decreasing WarmThroughput is not supported"
            )
