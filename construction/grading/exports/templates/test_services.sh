#!/bin/sh
# Grades the answer that the agent left in /work and the record that the services kept beside it.
# Without a record no reward is written: the services ended, which is no agent's doing.
# --run: checks of a repair run what was delivered. This container is made for that.
set -eu
mkdir -p "$(dirname "${BENCHMINT_REWARD:-/logs/verifier/reward.json}")"
exec python3 -I -B "$(dirname "$0")/grader" --spec "$(dirname "$0")/spec.json" --work "${BENCHMINT_WORK:-/work}" \
    --run --record "${BENCHMINT_RECORD:-/state/record.json}" --reward "${BENCHMINT_REWARD:-/logs/verifier/reward.json}"
