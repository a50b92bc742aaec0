"""Tools that draft a design: from a table in use, a relational schema, or files of other tools."""

from __future__ import annotations

from keyfold.errors import KeyfoldError
from keyfold_workbench.mcp.tool import Excerpt, excerpt, tool
from keyfold_workbench.mcp.workspace import Workspace


class DraftTools:
    """Design files drafted from existing sources."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    @tool()
    def draft_from_table(self, table: str, sample: int = 500, offset: int = 0) -> Excerpt:
        """A design file drafted from a sample of a table's items."""
        from keyfold_workbench.adopt import item_sample
        from keyfold_workbench.adopt.description import live_table
        from keyfold_workbench.adopt.inspection import inspect

        wanted = min(sample, 5_000)
        with self._workspace.client() as client:
            described = live_table(client, table)
            items = item_sample.begin(table, wanted)
            item_sample.read(client, items, wanted)
            return excerpt(inspect(described, items).text(), offset)

    @tool()
    def draft_from_sql(self, ddl: str, queries: str = "", dialect: str = "postgres") -> Excerpt:
        """A design file drafted from CREATE TABLE statements.

        `queries` are SELECT statements, or lines of `calls<TAB>query` as pg_stat_statements has
        them; they become access patterns.
        """
        from keyfold_workbench.adopt.sql import design_from_sql

        return excerpt(design_from_sql(ddl, queries, dialect=dialect), 0)

    @tool()
    def draft_from_files(
        self, files: dict[str, str], table: str = "", name: str = "", offset: int = 0
    ) -> Excerpt:
        """A design file from the texts of other tools' files, by their names.

        CloudFormation, SAM and Terraform, serverless.yml, NoSQL Workbench, ElectroDB, OneTable,
        DynamoDB-Toolbox, Amplify's GraphQL, other design files; several are merged. `table` names
        the table of models that do not say theirs.
        """
        from keyfold_workbench.adopt.merged_sources import merge
        from keyfold_workbench.adopt.sources.detection import read_texts

        if not files:
            raise KeyfoldError('give at least one file, as {"template.yaml": "Resources: ..."}')
        return excerpt(merge(read_texts(files, table=table), name=name).text(), offset)
