"""Controlled services for agents and people: the shells around the pure engine."""
