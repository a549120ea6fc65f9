"""Controlled services for agents and people: the shells around the pure engine.

instance.py   one world in one SQLite file, with its chained log; found again after a kill
http_app.py   its operations as REST with OpenAPI, and the page that shows state and log
mcp_app.py    its operations as MCP tools
serve.py      both behind one loopback port, each instance with a token of its own
exported_command.py  one instance for one attempt, as exported
"""
