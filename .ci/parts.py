"""What `pip install .` in a clone installs: the parts, from where they stand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class Parts(MetadataHookInterface):
    """Dependencies by the path of the clone, which a pyproject cannot name."""

    def update(self, metadata: dict[str, Any]) -> None:
        packages = (Path(self.root) / "packages").as_uri()
        web = f"keyfold-web @ {packages}/web"
        workbench = f"keyfold-workbench @ {packages}/workbench"
        extras = {name: [f"keyfold[{name}]"] for name in ("aws", "vectors", "formats", "tracing")}
        metadata["dependencies"] = [
            f"keyfold-engine @ {packages}/engine",
            f"keyfold @ {packages}/keyfold",
        ]
        metadata["optional-dependencies"] = {
            "web": [web],
            "workbench": [web, workbench],
            **extras,
            "all": [web, workbench, *(one for extra in extras.values() for one in extra)],
        }
