#!/bin/sh
# Hands in the answer that was computed from the tables behind the data tools.
set -eu
work="${BENCHMINT_WORK:-/work}"
mkdir -p "$work/outputs"
cp "$(dirname "$0")/answer.txt" "$work/outputs/answer.txt"
