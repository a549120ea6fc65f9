"""Workspace repair: folders with a planted fault, and checks on the state afterwards.

drafts.py      what a repair task is made of, before screening
checks.py      constructors of checks, and how their weights are shared
drawing.py     keyed draws, names and dates of the folders
git_store.py   git repositories as objects, made without git
archives.py    tar archives with the same bytes everywhere
faults/        the generators: each builds a folder with a fault, and mends it
catalogue.py   all generators
screening.py   attacks, mutants and the reference solution, as gates with reasons
candidates.py  drafts that passed, as candidates of the pool
"""
