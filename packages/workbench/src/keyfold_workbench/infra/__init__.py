"""A design's infrastructure in the formats of deployment tools."""

from __future__ import annotations

from collections.abc import Callable

from keyfold.design.schema import Schema
from keyfold_workbench.infra import cdk, cloudformation, iam, terraform

FORMATS: dict[str, Callable[[Schema], str]] = {
    "cloudformation": cloudformation.render,
    "terraform": terraform.render,
    "cdk": cdk.render,
    "iam": iam.render,
}

__all__ = ["FORMATS"]
