import sys

from shiftbook.cli import main

sys.exit(main())
