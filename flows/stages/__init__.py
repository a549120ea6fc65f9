"""The stages of each lane: records that say what a stage reads, computes and records."""
