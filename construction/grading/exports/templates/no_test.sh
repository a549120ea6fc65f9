#!/bin/sh
# This export was made without the private half: nothing here can grade. No reward is written, so
# that a runner reports an error and not a score.
echo "This export holds no graders: export again with --with-private." >&2
exit 1
