"""The database: tables, and how it is opened."""

import sqlite3
from contextlib import contextmanager

_TABLES = """
CREATE TABLE IF NOT EXISTS watermark (
  supplier TEXT PRIMARY KEY, stamp TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS seen (
  supplier TEXT NOT NULL, stamp TEXT NOT NULL, digest TEXT NOT NULL,
  PRIMARY KEY (supplier, digest));
CREATE TABLE IF NOT EXISTS deliveries (
  supplier TEXT NOT NULL, number TEXT NOT NULL, article TEXT NOT NULL, day TEXT NOT NULL,
  grams INTEGER, price INTEGER, currency TEXT, site TEXT, stamp TEXT NOT NULL,
  PRIMARY KEY (supplier, number));
CREATE TABLE IF NOT EXISTS contracts (
  supplier TEXT NOT NULL, article TEXT NOT NULL, valid_from TEXT NOT NULL, valid_to TEXT NOT NULL,
  price INTEGER NOT NULL, currency TEXT NOT NULL, loaded TEXT NOT NULL,
  PRIMARY KEY (supplier, article, valid_from));
CREATE TABLE IF NOT EXISTS quarantine (
  file TEXT NOT NULL, line INTEGER NOT NULL, supplier TEXT NOT NULL, reason TEXT NOT NULL,
  row TEXT NOT NULL, PRIMARY KEY (file, line));
CREATE TABLE IF NOT EXISTS files (
  name TEXT PRIMARY KEY, rows INTEGER NOT NULL, loaded INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS notes (
  id INTEGER PRIMARY KEY, supplier TEXT NOT NULL, number TEXT NOT NULL, author TEXT NOT NULL,
  text TEXT NOT NULL);
"""
DERIVED = ("watermark", "seen", "deliveries", "contracts", "quarantine", "files")  # from files


@contextmanager
def opened(path):
    """A connection; what was done is kept if the block ends well, and undone otherwise."""
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.row_factory = sqlite3.Row
    try:
        connection.executescript(_TABLES)
        connection.execute("BEGIN IMMEDIATE")
        yield connection
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    finally:
        connection.close()


def emptied(connection):
    """Remove all that can be read from files again."""
    for table in DERIVED:
        connection.execute(f"DELETE FROM {table}")  # names from the list above
