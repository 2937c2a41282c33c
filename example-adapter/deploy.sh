#!/bin/sh
# Started by the evaluation with MODEL_PATH set; it must stay in the foreground and serve until it is stopped.
set -e
echo "MODEL_PATH=${MODEL_PATH:?must name the weights folder}"

exec python3 "$(dirname "$0")/server.py" "$MODEL_PATH" --port "${PORT:-8000}" ${SERVER_ARGS:-}
