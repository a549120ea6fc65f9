"""Orchestration: the flows and the `benchmint` command."""

import os
from pathlib import Path

# Before numpy is first imported: the sentence encoder is meant for one BLAS thread, and several
# on a small machine make it many times slower.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

ROOT = Path(__file__).resolve().parent.parent
