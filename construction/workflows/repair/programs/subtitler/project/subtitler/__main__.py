import sys

from subtitler.cli import main

sys.exit(main())
