"""The tests of all packages."""

import flows  # noqa: F401 (before numpy: the command reckons with one thread of it, to the last bit)
