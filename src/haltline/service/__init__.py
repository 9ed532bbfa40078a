"""The guardrail service: the specification's operations over a store, each under a deadline."""

from haltline.service.guardrail import Guardrail

__all__ = ["Guardrail"]
