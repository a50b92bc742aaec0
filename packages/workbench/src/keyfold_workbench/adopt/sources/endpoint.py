"""Tables of a live endpoint."""

from __future__ import annotations

from keyfold.errors import KeyfoldError
from keyfold.streams.support_table import TABLE as SUPPORT
from keyfold_engine.clients.protocol import Client
from keyfold_workbench.adopt.description import live_table
from keyfold_workbench.adopt.sources.material import Imported


def read(client: Client, source: str) -> Imported:
    """All tables of the endpoint except keyfold's own."""
    found = Imported("endpoint", source)
    request: dict[str, str] = {}
    while True:
        answer = client.call("ListTables", request)
        for name in answer.get("TableNames", ()):
            if not name.endswith(SUPPORT.name):
                found.tables.append(live_table(client, name))
        if "LastEvaluatedTableName" not in answer:
            break
        request = {"ExclusiveStartTableName": answer["LastEvaluatedTableName"]}
    if not found.tables:
        raise KeyfoldError(f"{source} has no tables")
    return found
