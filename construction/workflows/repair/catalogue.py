"""All generators of workspace repair."""

from __future__ import annotations

from construction.workflows.repair.drafts import Repair, RepairDraft
from construction.workflows.repair.faults import (
    access_log,
    backup_script,
    crontab_times,
    disk_retention,
    feed_mapping,
    gateway_routes,
    git_history,
    month_report,
    orders_transform,
    price_cache,
    queue_log,
    requirement_pins,
    service_settings,
    site_modes,
)

REPAIRS: tuple[Repair, ...] = tuple(
    sorted(
        (
            access_log.REPAIR,
            backup_script.REPAIR,
            crontab_times.REPAIR,
            disk_retention.REPAIR,
            feed_mapping.REPAIR,
            gateway_routes.REPAIR,
            git_history.REPAIR,
            month_report.REPAIR,
            orders_transform.REPAIR,
            price_cache.REPAIR,
            queue_log.REPAIR,
            requirement_pins.REPAIR,
            service_settings.REPAIR,
            site_modes.REPAIR,
        ),
        key=lambda repair: repair.name,
    )
)
BY_NAME = {repair.name: repair for repair in REPAIRS}


def all_drafts(each: int, seed: int) -> list[RepairDraft]:
    """So many drafts of each generator."""
    return [repair.build(number, seed) for repair in REPAIRS for number in range(1, each + 1)]
