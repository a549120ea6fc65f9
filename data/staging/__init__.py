"""The staging database: all stages of all kept runs, as documented tables and views (law 7).

No column holds raw text (law 8). A build writes its tables as Parquet below `<out>/staging/`,
builds `<out>/staging.duckdb` aside from all runs kept there, and swaps it in.
"""

from data.staging.database import (
    build_database,
    open_read_only,
    table_paths,
)
from data.staging.runs import (
    RunFacts,
    StagedRun,
    drop_runs,
    newest_run,
    record_release,
    stage_run,
    staged_runs,
)
from data.staging.tables import TABLES
from data.staging.views import VIEWS

__all__ = [
    "TABLES",
    "VIEWS",
    "RunFacts",
    "StagedRun",
    "build_database",
    "drop_runs",
    "newest_run",
    "open_read_only",
    "record_release",
    "stage_run",
    "staged_runs",
    "table_paths",
]
