"""What the program knows about writing: scripts, numerals, dates, language, word lists."""
