"""Who could be found again in a released table, by which attack, knowing what."""
