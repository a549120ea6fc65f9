"""Demo statements: SEC and EDINET input files of fictional companies, with planted traps."""

from data.demo.statements.write import write_demo_statements

__all__ = ["write_demo_statements"]
