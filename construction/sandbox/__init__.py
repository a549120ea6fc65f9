"""The sandbox: a box of bubblewrap for one attempt, and what agents find in it."""
