"""The content of a GraphQL request."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class GraphQLRequest(BaseModel):
    """The JSON body of a GraphQL request."""

    model_config = ConfigDict(alias_generator=to_camel, extra="ignore")

    query: str
    variables: dict[str, Any] | None = None
    operation_name: str | None = None
