"""Tools about money: what a design costs, and what would cost less."""

from __future__ import annotations

from typing import Any

from keyfold_workbench.advise import advise, report
from keyfold_workbench.cost import Workload, bill, known_workload, loads, render_report
from keyfold_workbench.cost.bill_json import as_json
from keyfold_workbench.mcp.tool import Excerpt, excerpt, tool
from keyfold_workbench.mcp.workspace import Workspace


class CostTools:
    """Costs under a workload: a given text, or the file beside the design."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    @tool()
    def estimate_cost(self, workload: str = "") -> dict[str, Any]:
        """Dollars a month by pattern, write, table and index, and every assumption."""
        return as_json(bill(self._workspace.schema, self._workload(workload)))

    @tool()
    def draft_workload(self) -> Excerpt:
        """A workload file for the design, to be completed with its rates and sizes."""
        from keyfold_workbench.cost.draft import draft

        return excerpt(draft(self._workspace.schema), 0)

    @tool()
    def advise(self, workload: str = "", offset: int = 0) -> Excerpt:
        """A design that serves the same patterns better, with its changes and savings."""
        advice = advise(self._workspace.schema, self._workload(workload))
        chosen = advice.best
        document, data = report.document(advice, chosen), report.plain(advice, chosen)
        return excerpt(render_report(document, data, "markdown"), offset)

    def _workload(self, text: str) -> Workload:
        schema = self._workspace.schema
        if text:
            return loads(text, schema)
        return known_workload(self._workspace.target, schema) or Workload()
