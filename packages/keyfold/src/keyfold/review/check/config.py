"""`[tool.keyfold.check]`: which rules a project runs, with which severity, and where."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, Literal, cast

from keyfold.errors import SettingError
from keyfold.review.check import FAMILIES, RULES
from keyfold.review.check.page import unknown_rule
from keyfold.review.check.report import SEVERITIES, Finding, Review, Severity
from keyfold.settings import nearest, section

FailOn = Severity | Literal["never"]
_WORDS = ("select", "ignore", "severity", "fail-on", "baseline", "paths")


@dataclass(frozen=True)
class PathConfig:
    """Settings for findings in some files, or of some designs."""

    folder: Path
    """The folder of the settings, to which the pattern is relative."""
    pattern: str
    ignore: tuple[str, ...] = ()
    severity: Mapping[str, Severity] = field(default_factory=dict)

    def covers(self, finding: Finding, design: str) -> bool:
        named = (self._relative(finding.place.file), design)
        # A folder stands for all that is in it, and `**` also for no folder at all.
        whole = self.pattern.rstrip("/")
        patterns = (whole, whole.replace("**/", ""), f"{whole}/*")
        return any(fnmatch(name, pattern) for name in named if name for pattern in patterns)

    def _relative(self, file: str) -> str:
        path = Path(file).resolve()
        inside = file and path.is_relative_to(self.folder)
        return path.relative_to(self.folder).as_posix() if inside else file


@dataclass(frozen=True)
class CheckConfig:
    """A project's settings for `keyfold check`."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: Mapping[str, Severity] = field(default_factory=dict)
    fail_on: FailOn = "warning"
    baseline: Path | None = None
    paths: tuple[PathConfig, ...] = ()

    def apply(self, report: Review) -> Review:
        """The report without ignored findings, with configured severities."""
        if not self.paths:
            return report
        found = (self._at_place(finding, report.design) for finding in report.findings)
        return replace(report, findings=tuple(f for f in found if f is not None))

    def _at_place(self, finding: Finding, design: str) -> Finding | None:
        for path in self.paths:
            if not path.covers(finding, design):
                continue
            names = (finding.code, finding.code.rstrip("0123456789"))
            if set(names) & set(path.ignore):
                return None
            stated = next((path.severity[n] for n in names if n in path.severity), None)
            if stated is not None:
                return replace(finding, severity=stated)
        return finding


def load(folder: Path | None = None) -> CheckConfig:
    """The nearest file's `check` table; suggests the likely word for each wrong one."""
    found = section("check", folder)
    if found is None:
        return CheckConfig()
    file, table = found
    _refuse_unknown(file, "check", table, _WORDS)
    fail_on = table.get("fail-on", "warning")
    words = (*SEVERITIES, "never")
    if fail_on not in words:
        raise SettingError(
            f"{file}: check.fail-on cannot be {fail_on!r}; {nearest(str(fail_on), words)}"
        )
    baseline = table.get("baseline")
    if not isinstance(baseline, str | None):
        raise SettingError(f"{file}: check.baseline must be a file's name, not {baseline!r}")
    return CheckConfig(
        select=_codes(file, "check.select", table.get("select", [])),
        ignore=_codes(file, "check.ignore", table.get("ignore", [])),
        severity=_severities(file, "check.severity", table.get("severity", {})),
        fail_on=fail_on,
        baseline=None if baseline is None else file.parent / baseline,
        paths=tuple(
            _path(file, pattern, inner)
            for pattern, inner in _table(file, "check.paths", table.get("paths", {})).items()
        ),
    )


def _path(file: Path, pattern: str, value: Any) -> PathConfig:
    where = f"check.paths.{pattern!r}"
    table = _table(file, where, value)
    _refuse_unknown(file, where, table, ("ignore", "severity"))
    return PathConfig(
        file.parent.resolve(),
        pattern,
        _codes(file, f"{where}.ignore", table.get("ignore", [])),
        _severities(file, f"{where}.severity", table.get("severity", {})),
    )


def _table(file: Path, where: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise SettingError(f"{file}: {where} must be a table, not {value!r}")
    return value


def _refuse_unknown(file: Path, where: str, table: Iterable[str], known: Iterable[str]) -> None:
    for word in table:
        if word not in known:
            raise SettingError(f"{file}: unknown setting {where}.{word}; {nearest(word, known)}")


def _codes(file: Path, where: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(code, str) for code in value):
        raise SettingError(f"{file}: {where} must be a list of codes, not {value!r}")
    for code in value:
        _refuse_unknown_code(file, where, code)
    return tuple(value)


def _severities(file: Path, where: str, value: Any) -> dict[str, Severity]:
    found: dict[str, Severity] = {}
    for code, word in _table(file, where, value).items():
        _refuse_unknown_code(file, where, code)
        if word not in SEVERITIES:
            raise SettingError(
                f"{file}: {where}.{code} cannot be {word!r}; {nearest(str(word), SEVERITIES)}"
            )
        found[code] = cast("Severity", word)
    return found


def _refuse_unknown_code(file: Path, where: str, code: str) -> None:
    known = [*RULES, *FAMILIES]
    if code not in known:
        raise SettingError(f"{file}: {where}: {unknown_rule(code, known)}")
