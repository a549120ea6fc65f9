"""Workflow tasks: controlled services, scenarios that build worlds of them, and their screening.

    contracts.py      worlds, requests, responses, drafts, scenarios
    services/*.toml   the services as data; declaration.py reads them, values.py says what fits
    engine.py         `handle(world, request)`: pure, always answers
    lookups.py        search; writes.py changes records; record_rules.py says what forbids it
    client.py         a client in the same process, with its log and what it changed
    diff.py           state changes and the digest of a state
    agent_tools.py    operations as the tools of an agent
    world_file.py     worlds as files, checked on reading

Who writes a scenario should know:

- `client.call("mail", "get_message", id="msg-1")` returns the record itself, a search
  `{total, page, rows}` with at most 50 rows, a deletion `{id, deleted}`. Writes answer with the
  short row of the record; new records get ids such as `msg-new-1`.
- A record counts as returned (`AuditRow.records`, the check `records_returned`) if a `get_...`
  showed it, or a search whose rows are whole records; short rows and answers to writes do not.
- `actor` is an email address. Times in records have the offset of `now`, whole seconds; emails are
  in lower case; numbers are JSON numbers. `world_faults(world)` says what does not fit.
- `AuditRow.records` and `StateChange.record` are "collection/id", with the service beside them.
- A task's `tools` are the names of `agent_tools.tools_of(services)`; its `steps` are made by
  `client.reference_steps(audit, answer)`: operations "service.operation", and `report` at the end.
"""
