"""Perturbation of measures: cell by cell, or jointly within groups."""
