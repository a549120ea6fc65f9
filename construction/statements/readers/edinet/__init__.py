"""Reader for collections of EDINET statements (Japan): one company per line, items by name."""
