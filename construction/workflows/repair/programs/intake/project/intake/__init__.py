"""Intake: deliveries of suppliers into one database, and reports from it."""
