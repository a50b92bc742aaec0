"""A service's operations as GraphQL."""

from __future__ import annotations

from keyfold.api.graphql.endpoint import Executor, GraphQLEndpoint, graphql_routes
from keyfold.api.graphql.schema import build_schema

__all__ = ["Executor", "GraphQLEndpoint", "build_schema", "graphql_routes"]
