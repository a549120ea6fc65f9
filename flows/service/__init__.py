"""Prefect's server and worker for this project, on the loopback: `python -m flows.service`."""
