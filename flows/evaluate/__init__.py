"""Running agents on a release: the sandbox, the runner (Inspect), and what comes out of it.

sandbox.py         a box of bubblewrap for one attempt: files in, commands, files out
sandbox_server.py  the program inside the box that runs the commands
resources.py       limits on memory and processes: a cgroup, or a watchdog
escapes.py         attempts to get out; tried at the start of each run and in the tests
"""
