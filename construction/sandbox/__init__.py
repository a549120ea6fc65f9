"""The sandbox: a box of bubblewrap for one attempt, and what agents find in it.

box.py             what a box is made of: the arguments of bubblewrap
sandbox.py         a box: files in, commands, files out
sandbox_server.py  the program inside the box that runs the commands
resources.py       limits on memory and processes: a cgroup, or a watchdog
escapes.py         attempts to get out; tried at the start of each run and in the tests
toolset.py         the interpreter, the libraries and the fonts that agents find inside
delivery.py        what an agent delivered, copied out of its box
"""
