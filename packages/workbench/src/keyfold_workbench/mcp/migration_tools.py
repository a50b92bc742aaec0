"""Tools for migrations: drafting a plan, and the state of plans in progress."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, Field

from keyfold.design import file
from keyfold.errors import KeyfoldError
from keyfold.migrations import Migrator, backend_of, load
from keyfold.migrations.diff import diff
from keyfold.migrations.plan import draft
from keyfold.migrations.plan_file import PLANS
from keyfold.settings import nearest
from keyfold_workbench.mcp.tool import Excerpt, excerpt, tool
from keyfold_workbench.mcp.workspace import Workspace


class DraftedPlan(BaseModel):
    """A plan as a YAML file; nothing was saved."""

    changes: list[str]
    plan: Excerpt
    functions: str = Field(description="The Python file of the functions that it names.")
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


class MigrationTools:
    """Plans are drafted and observed here; people apply them, with keyfold migrations apply."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    @tool()
    def draft_migration(self, text: str, name: str = "change", offset: int = 0) -> DraftedPlan:
        """The plan from the design to a changed design file's `text`, as `keyfold migrations plan`
        would write it.
        """
        before, after = self._workspace.schema, file.loads(text, file="the given text")
        changes = diff(before, after)
        if not changes:
            raise KeyfoldError("nothing changes: the text equals the design")
        made = draft(name.replace("-", "_"), before, after, live=before)
        return DraftedPlan(
            changes=[str(one) for one in changes],
            plan=excerpt(made.text, offset),
            functions=made.functions,
            open_questions=made.open_questions,
        )

    @tool()
    def migration_status(self, plan: str = "") -> list[PlanStatus]:
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
        return [self._status(path) for path in chosen]

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
