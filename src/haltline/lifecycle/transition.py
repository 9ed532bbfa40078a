"""The form of every rule: from what a session is now, and the database's time, to what is to be written."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from haltline.records import Changes, SessionView

Transition = Callable[[SessionView, datetime], Changes]
