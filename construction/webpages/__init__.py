"""Captured web pages: importing, searching and reading them without a network.

pages.py            the format: a folder with `pages.parquet` and its digest
page_text.py        the text of HTML and PDF, in a child process
importing.py        a folder of saved files with a table of their addresses, to pages
statement_pages.py  pages that print financial statements, made from a release's public tables
page_index.py       search by BM25, reading by address
web_tools.py        `search` and `fetch` as tools for agents
reader.py           a scripted agent that searches, reads and answers by rule
"""
