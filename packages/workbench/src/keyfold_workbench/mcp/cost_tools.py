"""Tools about money: what a design costs, and what would cost less."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from keyfold.design.schema import Schema
from keyfold_workbench.advise import advise, report
from keyfold_workbench.cost import Workload, bill, known_workload, loads, render_report
from keyfold_workbench.cost.bill_json import as_json
from keyfold_workbench.mcp.tool import Excerpt, ToolAnswer, excerpt, fitting, tool
from keyfold_workbench.mcp.workspace import Workspace

LINES = 8
"""The dearest lines of a bill that its summary shows."""
SHOWN = ("name", "table", "index", "rate", "units", "dollars")
Part = Literal[
    "patterns", "writes", "feeds", "purposes", "beside", "paths", "hot_keys", "assumptions"
]


class MonthlyCost(ToolAnswer):
    """A bill: its sums and dearest lines, or one part of it in full."""

    design: str
    assumed: str | None = Field(description="What stands in for a workload, if there is none.")
    dollars: dict[str, float] = Field(description="Dollars a month, by way of paying and by cause.")
    lines: dict[str, list[Any]] = Field(description="Of each part, the dearest lines, or all.")
    counts: dict[str, int] = Field(description="How many lines each part has: ask by detail.")
    next_offset: int | None = None


class CostTools:
    """Costs under a workload: a given text, or the file beside the design."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    @tool(then="Ask advise for a cheaper design, or a part of the bill by detail.")
    def estimate_cost(
        self, workload: str = "", text: str = "", detail: Part | None = None, offset: int = 0
    ) -> MonthlyCost:
        """Dollars a month by pattern, write, table and index, of the design or of a file's `text`.

        `workload` is a workload file's text. `detail` names a part that is returned in full.
        """
        made = _rounded(as_json(bill(*self._priced(text, workload))))
        parts = {name: lines for name, lines in made.items() if isinstance(lines, list)}
        rest: int | None = None
        lines: dict[str, list[Any]]
        if detail is not None:
            shown, rest = fitting(parts[detail], offset, 2_800)
            lines = {str(detail): shown}
        else:
            lines = {
                name: [_short(one) for one in sorted(parts[name], key=_dollars)[:LINES]]
                for name in ("patterns", "writes")
                if parts[name]
            }
        return MonthlyCost(
            design=made["design"],
            assumed=made["assumed"],
            dollars=made["dollars"],
            lines=lines,
            counts={name: len(found) for name, found in parts.items() if found},
            next_offset=rest,
        )

    @tool(then="Put your rates and sizes into it and pass it to estimate_cost as workload.")
    def draft_workload(self, text: str = "", offset: int = 0) -> Excerpt:
        """A workload file for the design, or a file's `text`, to be completed with its rates."""
        from keyfold_workbench.cost.draft import draft

        return excerpt(draft(self._workspace.schema_of(text)), offset)

    @tool(then="Try a change that you like with try_change.")
    def advise(self, workload: str = "", text: str = "", offset: int = 0) -> Excerpt:
        """A design that serves the same patterns better, with its changes and savings."""
        advice = advise(*self._priced(text, workload))
        chosen = advice.best
        document, data = report.document(advice, chosen), report.as_json(advice, chosen)
        return excerpt(render_report(document, data, "markdown"), offset)

    def _priced(self, text: str, workload: str) -> tuple[Schema, Workload]:
        schema = self._workspace.schema_of(text)
        if workload:
            return schema, loads(workload, schema)
        beside = None if text else known_workload(self._workspace.target, schema)
        return schema, beside or Workload()


def _rounded(value: Any) -> Any:
    """Numbers with as many digits as an estimate has."""
    if isinstance(value, float):
        return round(value, 2) if abs(value) >= 1 else float(f"{value:.2g}")
    if isinstance(value, dict):
        return {name: _rounded(one) for name, one in value.items()}
    return [_rounded(one) for one in value] if isinstance(value, list) else value


def _short(line: dict[str, Any]) -> dict[str, Any]:
    return {name: line[name] for name in SHOWN if line.get(name) is not None}


def _dollars(line: dict[str, Any]) -> float:
    return -float(line.get("dollars") or 0)
