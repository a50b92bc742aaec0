"""Running a design: handles, reads, writes, transactions and request budgets."""

from keyfold.runtime.async_db import AsyncDb as AsyncDb
from keyfold.runtime.changes import add as add
from keyfold.runtime.changes import append as append
from keyfold.runtime.changes import clear as clear
from keyfold.runtime.changes import remove as remove
from keyfold.runtime.changes import set_if_absent as set_if_absent
from keyfold.runtime.db import Db as Db
from keyfold.runtime.design import Design as Design
from keyfold.runtime.inside import at as at
from keyfold.runtime.intent import Intent as Intent
from keyfold.runtime.transaction import check as check
from keyfold.runtime.transaction import create as create
from keyfold.runtime.transaction import delete as delete
from keyfold.runtime.transaction import put as put
from keyfold.runtime.transaction import update as update
from keyfold.runtime.transaction import upsert as upsert
