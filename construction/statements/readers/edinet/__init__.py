"""Reader for collections of EDINET statements (Japan): one company a line, items by name."""
