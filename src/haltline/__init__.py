"""Haltline."""
