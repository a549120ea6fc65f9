"""Entry point: `python3 -m ratebook COMMAND`."""

from ratebook.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
