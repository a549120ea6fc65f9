"""Graders: from what an agent did on a task to a score, without a model.

    spec.py        what a grader knows of a task: the private half, read from its JSON files
    answers/       the one reader of answers: see its README.md
    file_types.py  the file types that tasks ask for; text_openers.py, openers.py open them
    file_look.py   what a grader sees in a file; file_child.py looks in confined processes
    hard_rules.py  hard rules, checked on the folder of output files
    actions.py     audit rows and state changes of controlled services
    field_conditions.py  whether their fields meet what a check wants
    files.py       hard rules and originality of output files
    combine.py     parts to one score: overall, passed (or undecided), progress
    grade.py       all of it, `grade(spec, submission)`, and how far an attempt came
    attacks.py     submissions that must not pass: null, talk-only, empty calls, null deliverables
    oracle.py      the answer computed by running the reference steps on the data tools
    null_files.py  files of every type that deliver nothing
    gate.py        the gate that these attacks and the oracle decide, and its settings
    preflight.py   the gate over all candidates: verdicts, ledger, survivors
    exports/       releases for other runners, and the same graders as a bundle of files that
                   imports nothing of this project

What grades answers, milestones and actions imports the standard library alone, because the bundle
takes it along as it is.
"""
