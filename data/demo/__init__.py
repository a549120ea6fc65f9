"""The demo workspace: frozen sessions and files, with the truth about every planted defect."""

from data.demo.generate import DemoSummary, generate

__all__ = ["DemoSummary", "generate"]
