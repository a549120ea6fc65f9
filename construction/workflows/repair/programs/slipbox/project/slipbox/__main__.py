import sys

from slipbox.cli import main

sys.exit(main())
