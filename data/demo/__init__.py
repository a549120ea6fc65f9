"""The demo workspace: generated sessions and files, with the truth about every planted defect."""

from data.demo.generate import DemoSummary, generate
from data.demo.truth import Truth, load_truth

__all__ = ["DemoSummary", "Truth", "generate", "load_truth"]
