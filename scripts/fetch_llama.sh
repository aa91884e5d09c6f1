#!/usr/bin/env bash
# Brings llama.cpp's source, tag v0.5.0, into .deps/llama.cpp. It comes as a git bundle inside an npm
# package; the package's hash and the commit are checked. Does nothing where it is there.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

package=node-llama-cpp
version=3.22.1
integrity=sha512-bltIipuWmc123H7tMIgDGKSsSrhmhlQYeVUC48XTjVW7XGJJiJJyCdlTMzQ/LiWoPkGDpcL4FviDpgw7qfTiDw==
commit=de3ff815ea7d559ee917f063901b8986f038abc6
target=.deps/llama.cpp

if [ -d "$target" ]; then
  found=$(git -C "$target" rev-parse HEAD 2>/dev/null || true)
  [ "$found" = "$commit" ] && exit 0
  die "$target is not llama.cpp v0.5.0 (commit '${found:-none}' instead of $commit); remove it, or build with -DSEGUE_LLAMA_SOURCE=DIR"
fi
if ! command -v npm >/dev/null 2>&1; then
  say "npm is not installed: CMake will bring llama.cpp from its upstream repository"
  exit 0
fi

say "Bringing llama.cpp v0.5.0"
mkdir -p .deps
work=$(mktemp -d .deps/fetch.XXXXXX)
trap 'rm -rf "$work"' EXIT
(cd "$work" && npm pack --silent "$package@$version" >/dev/null) ||
  die "npm could not download $package@$version; is the network up? (-DSEGUE_LLAMA_SOURCE=DIR builds with a source of your own)"
tarball="$work/$package-$version.tgz"
expected=$(printf '%s' "${integrity#sha512-}" | base64 -d | od -An -v -tx1 | tr -d ' \n')
actual=$(sha512sum "$tarball" | cut -d' ' -f1)
[ "$actual" = "$expected" ] ||
  die "the download of $package@$version is damaged (SHA-512 $actual, expected $expected); run again"
tar -xzf "$tarball" -C "$work" package/llama/gitRelease.bundle
git -c advice.detachedHead=false clone --quiet "$work/package/llama/gitRelease.bundle" "$work/source"
[ "$(git -C "$work/source" rev-parse HEAD)" = "$commit" ] ||
  die "the bundle of $package@$version holds another commit than $commit"
mv "$work/source" "$target"
