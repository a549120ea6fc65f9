"""Faults in tasks of other benchmarks, and of ours in their forms.

What comes in is somebody else's: nothing of it is run outside of a sandbox, and what cannot be
known without more (a judge, an image, services) is said to be not checked, never called a fault.
"""
