"""What Kinesis destinations add to the core."""

from __future__ import annotations

from keyfold_engine.engine.extensions import Extension
from keyfold_engine.engine.tables import TableDefinition
from keyfold_engine.features.kinesis.destinations import destinations_of, keep


class KinesisExtension(Extension):
    """Destinations of a table's changes."""

    def attach(self, table: TableDefinition) -> None:
        if any(each["Status"] == "ACTIVE" for each in destinations_of(table)):
            table.after.append(keep)


EXTENSION = KinesisExtension()
