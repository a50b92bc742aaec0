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

from keyfold.errors.own import AlreadyExists as AlreadyExists
from keyfold.errors.own import AlreadyProcessed as AlreadyProcessed
from keyfold.errors.own import BudgetExceeded as BudgetExceeded
from keyfold.errors.own import CursorRefused as CursorRefused
from keyfold.errors.own import DeclarationError as DeclarationError
from keyfold.errors.own import Drifted as Drifted
from keyfold.errors.own import IndexBehind as IndexBehind
from keyfold.errors.own import Irreversible as Irreversible
from keyfold.errors.own import ItemError as ItemError
from keyfold.errors.own import KeyValueRefused as KeyValueRefused
from keyfold.errors.own import LeaseLost as LeaseLost
from keyfold.errors.own import MigrationError as MigrationError
from keyfold.errors.own import MissingKeyField as MissingKeyField
from keyfold.errors.own import NotFound as NotFound
from keyfold.errors.own import Pending as Pending
from keyfold.errors.own import PlanError as PlanError
from keyfold.errors.own import ProcessorFailed as ProcessorFailed
from keyfold.errors.own import RebuildNeeded as RebuildNeeded
from keyfold.errors.own import RequestReused as RequestReused
from keyfold.errors.own import StepRefused as StepRefused
from keyfold.errors.own import StreamError as StreamError
from keyfold.errors.own import TooManyWrites as TooManyWrites
from keyfold.errors.own import Undecodable as Undecodable
from keyfold.errors.own import UniqueTaken as UniqueTaken
from keyfold.errors.own import Unsupported as Unsupported
from keyfold.errors.own import ValueRefused as ValueRefused
from keyfold.errors.own import VerifyFailed as VerifyFailed
from keyfold.errors.own import VersionConflict as VersionConflict
from keyfold_engine.errors import *  # noqa: F403
