"""Dispatch: a queue of jobs with retries, schedules and a status service."""
