"""Prompts that a person can start: model a domain, review a design, plan a migration."""

from __future__ import annotations

from typing import Any

from mcp.server.mcpserver import MCPServer


def add(server: MCPServer[Any]) -> None:
    """Register the prompts."""

    @server.prompt()
    def model_domain(domain: str) -> str:
        """Model a domain from the access patterns of its application."""
        return f"""\
Model this domain as a keyfold design file for DynamoDB: {domain}

1. Write down each question that the application asks of its data, with its rate and its page size.
   Ask me about those you cannot know.
2. Name the entities, and for each the key by which it is found. Put items that are read together
   into one partition.
3. Give each question the key or index that answers it with one Query or GetItem.
4. Read `guide`, write the design file and pass its text to check_design. Fix what it finds, or say
   why it stays.
5. Pass the text to draft_workload, put the rates into its file, and show what estimate_cost says of
   both texts.
6. Show what export writes for my deployment tool, and with to="python" the Python that runs."""

    @server.prompt()
    def review_design() -> str:
        """Review this server's design as an expert would."""
        return """\
Review the design of this server. Read it with read_design, then check_design. For each finding say
whether it is true here, what it would cost to leave it, and the smallest change that fixes it. Try
each change with try_change before you propose it. End with the three changes that matter most."""

    @server.prompt()
    def plan_migration(change: str) -> str:
        """Plan a migration of a running system from its design to a changed one."""
        return f"""\
Plan this change of a running system: {change}

Write the changed design file, pass it to try_change, and explain each step of its migration: what
happens to existing items, what the application has to do meanwhile, how to roll back. Name
what would be lost, and ask before anything is dropped. Do not apply anything."""
