"""Every error keyfold raises.

KeyfoldError
├ DeclarationError    import time; stable code, place, suggestion
├ SettingError        keyfold.toml, [tool.keyfold], KEYFOLD_* variables, flags
├ OperationError      any DynamoDB answer, the same class on every backend
├ ItemError           NotFound, Undecodable
├ PlanError           TooManyWrites, MissingKeyField, BudgetExceeded, CursorRefused
├ StreamError         RebuildNeeded, LeaseLost, AlreadyProcessed, ProcessorFailed
├ MigrationError      Pending, Drifted, VerifyFailed, Irreversible
├ StorageError        Corrupt, Busy, WrongFormat, Full
└ TransportError      Timeout, Unreachable, Untrusted
"""

import keyfold_engine.errors as _of_the_engine
from keyfold.errors.own import (
    AlreadyExists,
    AlreadyProcessed,
    BudgetExceeded,
    CursorRefused,
    DeclarationError,
    Drifted,
    IndexBehind,
    Irreversible,
    ItemError,
    KeyValueRefused,
    LeaseLost,
    MigrationError,
    MissingKeyField,
    NotFound,
    Pending,
    PlanError,
    ProcessorFailed,
    RebuildNeeded,
    RequestReused,
    StepRefused,
    StreamError,
    TooManyWrites,
    Undecodable,
    UniqueTaken,
    Unsupported,
    ValueRefused,
    VerifyFailed,
    VersionConflict,
)
from keyfold_engine.errors import *  # noqa: F403

__all__ = [
    "AlreadyExists",
    "AlreadyProcessed",
    "BudgetExceeded",
    "CursorRefused",
    "DeclarationError",
    "Drifted",
    "IndexBehind",
    "Irreversible",
    "ItemError",
    "KeyValueRefused",
    "LeaseLost",
    "MigrationError",
    "MissingKeyField",
    "NotFound",
    "Pending",
    "PlanError",
    "ProcessorFailed",
    "RebuildNeeded",
    "RequestReused",
    "StepRefused",
    "StreamError",
    "TooManyWrites",
    "Undecodable",
    "UniqueTaken",
    "Unsupported",
    "ValueRefused",
    "VerifyFailed",
    "VersionConflict",
]
__all__ += _of_the_engine.__all__
