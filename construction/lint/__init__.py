"""Faults in tasks of other benchmarks, and of ours in their forms.

registry.py         the formats, and which of them a file or folder has
findings.py         what is found: defects, portability, not checked
harbor.py           task folders of Harbor; harbor_trial.py runs their tests in a sandbox
claw_eval/          task folders of Claw-Eval-Live, whose graders are attacked
tau2.py, inspect_samples.py, swe_bench.py, records.py (DataClawBench)   files of records

What comes in is somebody else's: nothing of it is run outside of a sandbox, and what cannot be
known without more (a judge, an image, services) is said to be not checked, never called a fault.
"""
