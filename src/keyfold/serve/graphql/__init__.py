"""A service's operations as GraphQL."""

from __future__ import annotations

from keyfold.serve.graphql.endpoint import graphql_routes
from keyfold.serve.graphql.schema import build_schema

__all__ = ["build_schema", "graphql_routes"]
