#!/bin/sh
# Grades what the agent left in /work; the graders import nothing but Python and its file libraries.
# --run: some checks run what was delivered. This container is made for that, so they run here.
set -eu
mkdir -p "$(dirname "${BENCHMINT_REWARD:-/logs/verifier/reward.json}")"
exec python3 -I -B "$(dirname "$0")/grader" --spec "$(dirname "$0")/spec.json" --work "${BENCHMINT_WORK:-/work}" \
    --run --reward "${BENCHMINT_REWARD:-/logs/verifier/reward.json}"
