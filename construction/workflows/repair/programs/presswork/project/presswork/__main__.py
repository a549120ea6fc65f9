import sys

from presswork.cli import main

sys.exit(main())
