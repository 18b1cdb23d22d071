#!/bin/sh
# Ask for one point and tell its cost, with curl alone.
# Needs a service, `geodrome serve`; its address is GEODROME_URL, or http://127.0.0.1:8100.
# Where it wants a key, GEODROME_KEY is one.
set -eu
studies="${GEODROME_URL:-http://127.0.0.1:8100}/v1/studies"

# --fail-with-body: exit code 22 on a refusal, and the problem, which says why, is still shown.
post() {
    curl --silent --show-error --fail-with-body --retry 5 --header 'Content-Type: application/json' \
        ${GEODROME_KEY:+--header "Authorization: Bearer $GEODROME_KEY"} "$@"
}

post "$studies" --data '{
  "name": "camera-direction", "if_exists": "load",
  "space": {"type": "sphere", "dim": 2}
}' >/dev/null

# One key for one ask: however often it is sent (by --retry, or because 202 said "not ready"), it is one trial.
key="Idempotency-Key: $(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')"
number=""
while [ -z "$number" ]; do
    trial=$(post "$studies/camera-direction/ask" --header "$key" --data '{"worker": "camera-1"}')
    number=$(echo "$trial" | sed -n 's/.*"number":\([0-9]*\).*/\1/p')
done
echo "point $(echo "$trial" | sed 's/.*"point":\(\[[^]]*\]\).*/\1/')"

# Here the camera turns and something is measured.
cost=0.44

post "$studies/camera-direction/trials/$number/tell" --data "{\"cost\": $cost}" >/dev/null
echo "trial $number is told, cost $cost"
