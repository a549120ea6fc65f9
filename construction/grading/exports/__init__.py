"""Releases as packages for other runners: generated text, with graders that import nothing of ours.

    writing.py  what all exports share: bundles of our code, inputs, specifications, servers
    harbor.py   one folder per task, as Harbor reads them
    inspect.py  one Inspect task over a list of samples
    templates/  the files that are the same for every task; nothing is ever filled into them

Texts and names of tasks are written as data (TOML, JSON), never into code.
"""
