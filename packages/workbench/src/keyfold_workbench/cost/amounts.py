"""Formats dollars, units, shares and bytes."""

from __future__ import annotations

from keyfold_engine.limits import GB, MB


def money(dollars: float) -> str:
    if 0 < abs(dollars) < 0.005:
        return "under 1 ¢"
    return f"${dollars:,.2f}"


def number(value: float) -> str:
    if value and abs(value) < 0.01:
        return "< 0.01"
    return f"{value:,.2f}".rstrip("0").rstrip(".") if abs(value) < 100 else f"{value:,.0f}"


def percent(share: float) -> str:
    return f"{share:.0%}" if share >= 0.01 or not share else "< 1%"


def volume(bytes_: float) -> str:
    return f"{bytes_ / GB:,.2f} GB" if bytes_ >= GB else f"{bytes_ / MB:,.1f} MB"
