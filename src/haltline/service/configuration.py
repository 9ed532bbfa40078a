"""The cached configuration (specification, Performance Considerations: refreshed every 60 s)."""

from __future__ import annotations

from collections.abc import Callable

from haltline.conditions.configuration import Configuration, parse_rows
from haltline.store.port import Store


class ConfigurationCache:
    """The configuration as this process knows it.

    Another process's change is seen when the cached copy is older than `seconds`, and not before; this
    process's own change is seen at once, because the service forgets the copy.
    """

    def __init__(self, store: Store, seconds: float, monotonic: Callable[[], float]) -> None:
        self._store = store
        self._seconds = seconds
        self._monotonic = monotonic
        self._configuration: Configuration | None = None
        self._read_at = 0.0

    async def get(self) -> Configuration:
        """Return the configuration, read again when the copy is too old.

        Raises:
            StoreUnavailable: it has to be read and cannot be; an old copy is not used instead.
        """
        now = self._monotonic()
        if self._configuration is None or now - self._read_at >= self._seconds:
            self._configuration = parse_rows(await self._store.condition_rows())
            self._read_at = now
        return self._configuration

    def forget(self) -> None:
        """Read it again at the next call."""
        self._configuration = None
