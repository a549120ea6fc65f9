"""The staging database: all stages of all kept runs, as documented tables and views (law 7).

No column holds raw text (law 8). A build writes its tables as Parquet below `<out>/staging/`,
builds `<out>/staging.duckdb` aside from all runs kept there, and swaps it in.
"""
