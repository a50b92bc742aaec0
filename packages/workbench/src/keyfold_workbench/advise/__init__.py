"""The adviser: better designs for a workload, proved to serve the same patterns."""

from __future__ import annotations

from keyfold_workbench.advise.advice import Advice, Alternative, advise

__all__ = ["Advice", "Alternative", "advise"]
