#!/bin/sh
# Ask for one point and tell its cost, with curl and jq alone.
# Needs a service, `geodrome serve`; its address is GEODROME_URL, or http://127.0.0.1:8100.
set -eu
studies="${GEODROME_URL:-http://127.0.0.1:8100}/v1/studies"

# --fail-with-body: exit code 22 on a refusal, and the problem, which says why, is still shown.
post() {
    curl --silent --show-error --fail-with-body --retry 5 --header 'Content-Type: application/json' "$@"
}

post "$studies" --data '{
  "name": "camera-direction", "if_exists": "load",
  "space": {"type": "sphere", "dim": 2}
}' >/dev/null

# One key for one ask: however often it is sent (by --retry, or because 202 said "not ready"), it is one trial.
key="Idempotency-Key: $(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')"
trial=""
while [ -z "$trial" ]; do
    trial=$(post "$studies/camera-direction/ask" --header "$key" --data '{"worker": "camera-1"}' |
        jq --compact-output '.trials[0] // empty')
done

number=$(echo "$trial" | jq .number)
echo "point $(echo "$trial" | jq --compact-output .point)"

# Here the camera turns and something is measured.
cost=0.44

post "$studies/camera-direction/trials/$number/tell" --data "{\"cost\": $cost}" |
    jq --raw-output '"trial \(.number) is \(.state), cost \(.cost)"'
