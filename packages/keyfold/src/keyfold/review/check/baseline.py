"""A baseline: known findings, so that only new ones count."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

from keyfold.errors import KeyfoldError
from keyfold.review.check.report import Review

VERSION = 2


def write(report: Review, path: Path) -> None:
    """Write today's findings."""
    known = sorted(finding.fingerprint for finding in report.findings)
    document = {"version": VERSION, "findings": known}
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def without_known(report: Review, path: Path) -> Review:
    """The report without findings in the baseline."""
    known = Counter(_read(path))
    new = []
    for finding in report.findings:
        if known[finding.fingerprint]:
            known[finding.fingerprint] -= 1
        else:
            new.append(finding)
    return replace(report, findings=tuple(new), known=len(report.findings) - len(new))


def _read(path: Path) -> list[str]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["version"] != VERSION:
            raise KeyfoldError(
                f"{path} is a baseline of version {document['version']}, and this keyfold reads "
                f"{VERSION}; write it again with --write-baseline"
            )
        return [str(each) for each in document["findings"]]
    except FileNotFoundError:
        raise KeyfoldError(
            f"the baseline {path} does not exist; make it with --write-baseline"
        ) from None
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise KeyfoldError(f"{path} is not a baseline: {error}") from None
