"""The staging database: all stages of all kept runs, as documented tables and views (law 7).

No column holds raw text (law 8). A build writes its tables as Parquet below `<out>/staging/`,
builds `<out>/staging.duckdb` aside from all runs kept there, and swaps it in.
"""

from typing import TYPE_CHECKING

from data.late import late

if TYPE_CHECKING:
    from data.staging.database import build_database, table_paths
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
    "record_release",
    "stage_run",
    "staged_runs",
    "table_paths",
]

__getattr__ = late(
    __name__,
    {
        "database": ("build_database", "table_paths"),
        "runs": (
            "RunFacts",
            "StagedRun",
            "drop_runs",
            "newest_run",
            "record_release",
            "stage_run",
            "staged_runs",
        ),
        "tables": ("TABLES",),
        "views": ("VIEWS",),
    },
)
