"""Task folders of other benchmarks in the form of Claw-Eval-Live.

reader.py   a folder (task.yaml, fixtures, tools, grader.py) as a candidate, and what is missing
audit.py    its grader, attacked in a sandbox without a judge
driver.py   the program in the box that calls the grader
known_services.toml   names of services there and here
"""
