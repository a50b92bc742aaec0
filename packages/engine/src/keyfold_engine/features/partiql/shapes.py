"""Requests with statements."""

from __future__ import annotations

from keyfold_engine import limits
from keyfold_engine.engine.shapes.kinds import (
    Attribute,
    Structure,
    at_least,
    at_most,
    list_of,
    required,
    structure,
    text,
)
from keyfold_engine.engine.shapes.words import CONSUMED, FLAG, ON_FAILURE, POSITIVE, TOKEN

_STATEMENT = required(text(at_least(1), at_most(limits.STATEMENT_CHARACTERS)))
_PARAMETERS = list_of(Attribute(), at_least(1))

REQUESTS: dict[str, Structure] = {
    "ExecuteStatement": structure(
        "ExecuteStatementInput",
        ReturnConsumedCapacity=CONSUMED,
        Statement=_STATEMENT,
        Parameters=_PARAMETERS,
        ConsistentRead=FLAG,
        NextToken=text(at_least(1), at_most(32768)),
        Limit=POSITIVE,
        ReturnValuesOnConditionCheckFailure=ON_FAILURE,
    ),
    "BatchExecuteStatement": structure(
        "BatchExecuteStatementInput",
        ReturnConsumedCapacity=CONSUMED,
        Statements=required(
            list_of(
                structure(
                    "BatchStatementRequest",
                    Statement=_STATEMENT,
                    Parameters=_PARAMETERS,
                    ConsistentRead=FLAG,
                    ReturnValuesOnConditionCheckFailure=ON_FAILURE,
                ),
                at_most(limits.BATCH_WRITE_ITEMS),
                at_least(1),
            )
        ),
    ),
    "ExecuteTransaction": structure(
        "ExecuteTransactionInput",
        ReturnConsumedCapacity=CONSUMED,
        ClientRequestToken=TOKEN,
        TransactStatements=required(
            list_of(
                structure(
                    "ParameterizedStatement",
                    Statement=_STATEMENT,
                    Parameters=_PARAMETERS,
                    ReturnValuesOnConditionCheckFailure=ON_FAILURE,
                ),
                at_most(limits.TRANSACTION_ITEMS),
                at_least(1),
            )
        ),
    ),
}
