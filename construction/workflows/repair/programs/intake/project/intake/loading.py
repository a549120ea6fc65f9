"""Loading: every file of the inbox once, each in one transaction."""

import json

from intake import contracts, deliveries
from intake.database import emptied, opened
from intake.sources import Raw, raw_rows, sources
from intake.values import BadValue


def _keep_aside(connection, raw, supplier, reason):
    connection.execute(
        "INSERT OR REPLACE INTO quarantine VALUES (?, ?, ?, ?, ?)",
        (raw.file, raw.line, supplier.name, str(reason), json.dumps(raw.values, sort_keys=True)),
    )


def _load_deliveries(connection, source, supplier, settings, log):
    rows, stamps, loaded = 0, [], 0
    for raw in raw_rows(source, supplier):
        rows += 1
        try:
            row = deliveries.delivery(raw, supplier, settings)
        except BadValue as error:
            log.warning(f"{raw.file}:{raw.line} to quarantine, {error}")
            _keep_aside(connection, raw, supplier, error)
            continue
        if deliveries.is_new(connection, supplier, row):
            deliveries.store(connection, supplier, row)
            loaded += 1
        stamps.append(row["stamp"])
    deliveries.raise_watermark(connection, supplier, stamps)
    return rows, loaded


def _load_contracts(connection, source, supplier, settings, log):
    rows, loaded = 0, 0
    for raw in raw_rows(source, supplier):
        rows += 1
        try:
            row = contracts.contract(raw, supplier, settings)
        except BadValue as error:
            log.warning(f"{raw.file}:{raw.line} to quarantine, {error}")
            _keep_aside(connection, raw, supplier, error)
            continue
        contracts.store(connection, supplier, row)
        loaded += 1
    return rows, loaded


_LOADERS = {"deliveries": _load_deliveries, "contracts": _load_contracts}


def _load_file(connection, source, settings, log):
    known = connection.execute(
        "SELECT 1 FROM files WHERE name = ?", (source.path.name,)
    ).fetchone()
    if known:
        return
    supplier = settings.suppliers[source.supplier]
    rows, loaded = _LOADERS[source.kind](connection, source, supplier, settings, log)
    connection.execute("INSERT INTO files VALUES (?, ?, ?)", (source.path.name, rows, loaded))
    log.info(f"{source.path.name}: {rows} rows, {loaded} loaded")


def load(settings, log, until="9999"):
    """Load the files up to a date (the start of their names) that were not loaded before."""
    for source in sources(settings):
        if source.kind in _LOADERS and source.path.name[:10] <= until:
            with opened(settings.database) as connection:
                _load_file(connection, source, settings, log)


def retry(settings, log):
    """Try the rows in quarantine again, after an alias was added or a unit declared."""
    with opened(settings.database) as connection:
        kept = connection.execute("SELECT * FROM quarantine ORDER BY file, line").fetchall()
        done = 0
        for entry in kept:
            supplier = settings.suppliers[entry["supplier"]]
            raw = Raw(entry["file"], entry["line"], json.loads(entry["row"]))
            try:
                if "valid_from" in raw.values:
                    price = contracts.contract(raw, supplier, settings)
                    contracts.store(connection, supplier, price)
                else:
                    row = deliveries.delivery(raw, supplier, settings)
                    deliveries.store(connection, supplier, row)
            except BadValue:
                continue
            key = (entry["file"], entry["line"])
            connection.execute("DELETE FROM quarantine WHERE file = ? AND line = ?", key)
            done += 1
    log.info(f"quarantine: {done} of {len(kept)} rows loaded")


def rebuild(settings, log):
    """Read everything in the inbox again; what people entered stays."""
    with opened(settings.database) as connection:
        emptied(connection)
    log.info("emptied for a rebuild")
    load(settings, log)
