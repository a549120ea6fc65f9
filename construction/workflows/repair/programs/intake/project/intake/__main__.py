"""Entry point: `python3 -m intake COMMAND`."""

from intake.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
