"""A service's operations as GraphQL."""

from __future__ import annotations

from keyfold_web.graphql.endpoint import Executor, GraphQLEndpoint, graphql_routes
from keyfold_web.graphql.schema import build_schema

__all__ = ["Executor", "GraphQLEndpoint", "build_schema", "graphql_routes"]
