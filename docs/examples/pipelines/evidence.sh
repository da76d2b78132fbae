#!/bin/sh
# Writes the evidence of a pipeline as an array of items. A variable that is not set gives no item, so its condition stays unknown.
set -eu

first=1
item() { # condition, type, value
  if [ -z "$3" ]; then return; fi
  if [ "$first" = 0 ]; then printf ',\n'; fi
  first=0
  printf '  {"condition_id": "%s", "retention": {"retention": "RetainCanonicalValue"}, "value": {"value": %s, "value_type": "%s"}}' \
    "$1" "$3" "$2"
}

printf '[\n'
item tests_run Integer "${TESTS_RUN:-}"
item tests_failed Integer "${TESTS_FAILED:-}"
item reviewed Boolean "${REVIEWED:-}"
printf '\n]\n'
