"""Haltline inside agent frameworks and coding agents: one module for each."""
