"""The token formats of vendors, as data: one module for each field of use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from haltline.secrets.formats import ai, cloud, code, communication, general, operations, payment

if TYPE_CHECKING:
    from haltline.secrets.model import Format

FORMATS: tuple[Format, ...] = (
    *general.FORMATS,
    *code.FORMATS,
    *ai.FORMATS,
    *cloud.FORMATS,
    *communication.FORMATS,
    *operations.FORMATS,
    *payment.FORMATS,
)
