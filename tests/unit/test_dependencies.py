"""Direct dependencies: a range in the package, a pinned version, a line that says what for."""

from __future__ import annotations

import re
import tomllib
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from types import ModuleType

import pytest
from tests.parts import PARTS, ROOT


def direct_dependencies() -> set[str]:
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]
    groups = [*tools.values()]
    for folder in dict.fromkeys(PARTS.values()):
        project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
        groups += [project["dependencies"], *project.get("optional-dependencies", {}).values()]
    found = (re.match(r"[\w.-]+", one) for group in groups for one in group)
    return {name for one in found if one and not (name := one[0].lower()).startswith("keyfold")}


def test_every_direct_dependency_has_one_pinned_version() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    assert all(re.fullmatch(r"[a-z0-9-]+==[\w.]+", line) for line in lines)
    assert {line.partition("==")[0] for line in lines} == direct_dependencies()


def test_every_direct_dependency_is_explained() -> None:
    page = (ROOT / "docs" / "dependencies.md").read_text().lower()
    assert {name for name in direct_dependencies() if name not in page} == set()


@pytest.fixture
def audit() -> ModuleType:
    loader = SourceFileLoader("audit", str(ROOT / ".ci" / "audit.py"))
    spec = spec_from_loader("audit", loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


def test_no_installed_package_has_a_hole_that_we_know_of(audit: ModuleType) -> None:
    assert audit.holes(audit.versions(), audit.advisories()) == []


def test_an_older_version_than_the_one_without_a_hole_is_found(audit: ModuleType) -> None:
    known = {"CVE-1": ("orjson", "3.9.15")}
    assert audit.holes({"orjson": "3.9.2"}, known) == ["orjson 3.9.2: CVE-1, closed in 3.9.15"]
    assert audit.holes({"orjson": "3.10.0"}, known) == []
    assert audit.holes({"other": "1.0"}, known) == []


def test_what_is_known_is_about_packages_by_their_right_names(audit: ModuleType) -> None:
    for hole, (name, fixed) in audit.advisories().items():
        assert re.fullmatch(r"(CVE|GHSA)-[\w-]+", hole)
        assert re.fullmatch(r"[a-z0-9-]+", name)
        assert re.fullmatch(r"[0-9.]+", fixed)
