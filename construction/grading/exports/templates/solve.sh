#!/bin/sh
# Carries out the reference steps on the tools that are served. For data tools it holds no answer; for
# services it makes the requests of the reference solution and repeats its report.
set -eu
here="$(dirname "$0")"
exec python3 -I -B "$here/solver" --steps "$here/steps.json" --answer "${BENCHMINT_WORK:-/work}/outputs/answer.txt"
