#!/bin/sh
# Grades what the agent left in /work; the graders import nothing but Python and its file libraries.
set -eu
mkdir -p "$(dirname "${BENCHMINT_REWARD:-/logs/verifier/reward.json}")"
exec python3 -I -B "$(dirname "$0")/grader" --spec "$(dirname "$0")/spec.json" --work "${BENCHMINT_WORK:-/work}" \
    --reward "${BENCHMINT_REWARD:-/logs/verifier/reward.json}"
