"""A service's operations as an AWS Lambda function.

handler = LambdaHandler(Clubs, "dynamodb://eu-west-1")
"""

from __future__ import annotations

from keyfold_web.lambdas.appsync import AppSyncError
from keyfold_web.lambdas.handler import LambdaHandler

__all__ = ["AppSyncError", "LambdaHandler"]
