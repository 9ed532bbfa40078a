"""The cached configuration (specification, Performance Considerations: refreshed every 60 s)."""

from __future__ import annotations

from collections.abc import Callable

from haltline.conditions.configuration import Configuration, parse_rows
from haltline.errors import ConfigurationError, StoreCorrupt
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
        self._changes = 0

    async def get(self) -> Configuration:
        """Return the configuration, read again when the copy is too old.

        Raises:
            StoreUnavailable: it has to be read and cannot be; an old copy is not used instead.
            ConfigurationError: it is not there, or cannot be what Haltline wrote.
        """
        now = self._monotonic()
        if self._configuration is not None and now - self._read_at < self._seconds:
            return self._configuration
        changes = self._changes
        try:
            configuration = parse_rows(await self._store.condition_rows())
        except StoreCorrupt as error:
            raise ConfigurationError(f"the configuration cannot be read: {error}") from error
        if changes == self._changes:  # else what was read may be from before a change of our own
            self._configuration, self._read_at = configuration, now
        return configuration

    def forget(self) -> None:
        """Read it again at the next call."""
        self._configuration = None
        self._changes += 1
