"""A service's operations as an AWS Lambda function.

handler = LambdaHandler(Clubs, "dynamodb://eu-west-1")
"""

from __future__ import annotations

from keyfold.api.lambdas.appsync import AppSyncError
from keyfold.api.lambdas.handler import LambdaHandler

__all__ = ["AppSyncError", "LambdaHandler"]
