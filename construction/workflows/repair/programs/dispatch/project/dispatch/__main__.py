"""Entry point: `python3 -m dispatch COMMAND`."""

from dispatch.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
