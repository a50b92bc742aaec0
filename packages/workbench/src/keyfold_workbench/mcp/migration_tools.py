"""Tools for migrations: drafting a plan, and the state of plans in progress."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, Field

from keyfold.errors import KeyfoldError
from keyfold.migrations import Migrator, backend_of, load
from keyfold.migrations.diff import diff
from keyfold.migrations.plan import draft
from keyfold.migrations.plan_file import PLANS
from keyfold.settings import nearest
from keyfold_workbench.mcp.tool import Excerpt, ToolAnswer, excerpt, fitting, tool
from keyfold_workbench.mcp.workspace import Workspace


class DraftedPlan(ToolAnswer):
    """A plan as a YAML file; nothing was saved."""

    changes: list[str]
    plan: Excerpt
    functions: Excerpt = Field(description="The Python file of the functions that it names.")
    open_questions: list[str] = Field(description="Decisions to make before it runs.")


class PlanStatus(BaseModel):
    """The state of a plan."""

    name: str
    phase: str
    writes: str
    lag_seconds: float | None = Field(
        description="How far copying is behind, in seconds; null when idle."
    )
    done: dict[str, int] = Field(description="Items of each segment that were copied.")
    routers: int = Field(description="Applications that follow the plan.")
    problems: list[str]
    steps: list[str]


class PlanStatuses(ToolAnswer):
    """The state of the plans."""

    plans: list[PlanStatus]
    left_out: int = Field(0, description="Plans beyond these: ask for one by its name.")


class MigrationTools:
    """Plans are drafted and observed here; people apply them, with keyfold migrations apply."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    @tool(then="Save it into migrations/ once its questions are decided; people apply it.")
    def draft_migration(
        self, text: str, name: str = "change", before: str = "", offset: int = 0
    ) -> DraftedPlan:
        """The plan from the design, or the file `before`, to a changed design file's `text`, as
        `keyfold migrations plan` would write it.
        """
        now, after = self._workspace.schema_of(before), self._workspace.schema_of(text)
        changes = diff(now, after)
        if not changes:
            raise KeyfoldError("nothing changes: the text equals the design")
        made = draft(name.replace("-", "_"), now, after)
        return DraftedPlan(
            changes=fitting([str(one) for one in changes], 0, 500)[0],
            plan=excerpt(made.text, offset, 1_600),
            functions=excerpt(made.functions, 0, 700),
            open_questions=fitting(made.open_questions, 0, 500)[0],
        )

    @tool(
        then="If a phase is done and nothing is wrong, people go on with keyfold migrations apply."
    )
    def migration_status(self, plan: str = "") -> PlanStatuses:
        """The state of the plans in the project's migrations directory: phase, progress,
        problems.
        """
        folder = self._workspace.migrations
        known = {path.stem: path for path in sorted(folder.glob(PLANS))}
        if not known:
            raise KeyfoldError(f"{folder} has no plans; create one with keyfold migrations plan")
        if plan and plan not in known:
            raise KeyfoldError(f"{folder} has no plan {plan!r}; {nearest(plan, known)}")
        chosen = [known[plan]] if plan else list(known.values())
        found = [self._status(path) for path in chosen]
        shown, _ = fitting(found)
        return PlanStatuses(plans=shown, left_out=len(found) - len(shown))

    def _status(self, path: Path) -> PlanStatus:
        workspace, migration = self._workspace, load(path)
        with workspace.client() as client:
            backend = backend_of(
                client, prefix=workspace.table_prefix, names=dict(workspace.table_names)
            )
            found = Migrator(migration, backend).status()
        return PlanStatus(
            name=found.name,
            phase=found.state.phase,
            writes=found.state.writes,
            lag_seconds=found.lag,
            done={part: int(one["done"]) for part, one in found.segments.items()},
            routers=found.routers,
            problems=[str(one) for one in found.problems],
            steps=list(migration.words()),
        )
