"""What contributor insights add to the core."""

from __future__ import annotations

from keyfold_engine.engine.extensions import Extension
from keyfold_engine.engine.tables import TableDefinition
from keyfold_engine.features.insights.contributors import KeyCounter


class InsightsExtension(Extension):
    """Counts of the keys of tables."""

    def attach(self, table: TableDefinition) -> None:
        modes = {
            name: each["Mode"]
            for name, each in table.definition.get("Insights", {}).items()
            if each["Status"] == "ENABLED"
        }
        if modes:
            table.observers.append(KeyCounter(modes))


EXTENSION = InsightsExtension()
