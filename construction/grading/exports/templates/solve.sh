#!/bin/sh
# Computes the answer by the reference steps on the data tools that are served; it holds no answer.
set -eu
here="$(dirname "$0")"
exec python3 -I -B "$here/solver" --steps "$here/steps.json" --answer "${BENCHMINT_WORK:-/work}/outputs/answer.txt"
