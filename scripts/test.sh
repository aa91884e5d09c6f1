#!/usr/bin/env bash
# Builds everything and runs the whole test suite.
#   scripts/test.sh [PRESET [ctest options]]
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
preset=${1:-release}
[ $# -eq 0 ] || shift
scripts/build.sh "$preset"
say "Testing ($preset)"
ctest --preset "$preset" "$@"
