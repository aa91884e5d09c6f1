# Shared by the scripts here: where the project is, how to say what happens, how to run a long step
# quietly. Source it; it changes to the project's root.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# So that build folders of one tree, and copies of the tree, share what ccache holds.
export CCACHE_BASEDIR="$PWD" CCACHE_NOHASHDIR=1

say() { printf '==> %s\n' "$*"; }
die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# quietly NAME COMMAND...: runs it with its output in build/log/NAME.log, whose end is shown where it
# fails.
quietly() {
  local log="build/log/$1.log"
  shift
  mkdir -p build/log
  if ! "$@" >"$log" 2>&1; then
    tail -n 60 "$log" >&2
    die "'$*' failed; the whole log is $log"
  fi
}
