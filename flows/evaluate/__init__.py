"""Running agents on a release: the sandbox, the runner (Inspect), and what comes out of it.

sandbox.py         a box of bubblewrap for one attempt: files in, commands, files out
sandbox_server.py  the program inside the box that runs the commands
resources.py       limits on memory and processes: a cgroup, or a watchdog
escapes.py         attempts to get out; tried at the start of each run and in the tests
toolset.py         the libraries that agents find inside
delivery.py        what an agent delivered, copied out of its box
trials.py          selected candidates tried in boxes, without Inspect
inspect_sandbox.py the box as a sandbox of Inspect
tools.py           what agents may call: data tools that are served, commands in the box
scripts.py         what agents without a model do
agents.py          Inspect's react agent, and agents that play a script
prices.py          what a model costs
budget.py          what a run and its attempts may spend
journal.py         what the model answered and the tools showed, kept as it comes
paid_model.py      the model whose requests are within the budget and never paid twice
chat_bridge.py     the model for a program inside the box
harness.py         a program inside the box as an agent; the hosts that a task lists
record.py          from a sample of Inspect's log to an attempt
trajectory.py      from a sample of Inspect's log to ATIF
plan.py            what is to be run, and where
run.py             one configuration on a release, resumable
"""
