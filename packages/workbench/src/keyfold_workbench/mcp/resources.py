"""Resources for clients: the document, the schema, rules, the guide."""

from __future__ import annotations

from typing import Any

import orjson
from mcp.server.mcpserver import MCPServer

from keyfold_workbench.mcp.workspace import Workspace


def add(server: MCPServer[Any], workspace: Workspace) -> None:
    """Register the resources of a workspace."""

    @server.resource("keyfold://design/document", mime_type="text/markdown")
    def document() -> str:
        """The design document."""
        from keyfold.review import docs
        from keyfold.review.docs.markdown import markdown

        return markdown(docs.document(workspace.schema), pictures="", note="")

    @server.resource("keyfold://design/file", mime_type="application/yaml")
    def design_file() -> str:
        """The design as its design file."""
        from keyfold.design.file import dumps

        return dumps(workspace.schema)

    @server.resource("keyfold://design/entities", mime_type="application/json")
    def entities() -> str:
        """JSON Schemas of the design's entities, by name."""
        shapes = {
            name: entity.model_json_schema() for name, entity in workspace.design.entities.items()
        }
        return orjson.dumps(shapes, option=orjson.OPT_INDENT_2).decode()

    @server.resource("keyfold://rules/{code}", mime_type="text/markdown")
    def rule(code: str) -> str:
        """The page of one rule of the reviewer."""
        from keyfold.review.check.page import page

        return page(code).text
