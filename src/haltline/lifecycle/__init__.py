"""The rules of sessions, halts, strikes and settlements: from what is stored, and an event, to changes.

Every function here is pure. A store runs it inside one transaction on a fresh view, so the rules hold
whatever else happens at the same time, and they are the same on every database (DESIGN §§5, 6).
"""

from haltline.lifecycle.recording import NewHalt, failed_check_halt, halt_from_finding, is_same, record_halts
from haltline.lifecycle.sessions import close_session, open_session, record_reads, session_state
from haltline.lifecycle.settling import CRITICAL_WAIVER_LIFETIME, acknowledge, time_out
from haltline.lifecycle.strikes import record_strike, reset_strikes
from haltline.lifecycle.trail import immutable_columns
from haltline.lifecycle.transition import Transition

__all__ = [
    "CRITICAL_WAIVER_LIFETIME",
    "NewHalt",
    "Transition",
    "acknowledge",
    "close_session",
    "failed_check_halt",
    "halt_from_finding",
    "immutable_columns",
    "is_same",
    "open_session",
    "record_halts",
    "record_reads",
    "record_strike",
    "reset_strikes",
    "session_state",
    "time_out",
]
