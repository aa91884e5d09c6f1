#!/usr/bin/env bash
# Installs what the build needs and is missing, from Debian. Does nothing where all is there.
#   scripts/setup.sh [--lint]   --lint: also clang, clang-tidy and clang-format
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

packages=(build-essential ca-certificates ccache cmake git libcli11-dev libedit-dev libgmock-dev
  libgtest-dev ninja-build pkg-config)
# npm brings llama.cpp's source; not needed where it is there already.
[ -d .deps/llama.cpp ] || command -v npm >/dev/null 2>&1 || packages+=(npm)
if [ "${1:-}" = --lint ]; then packages+=(clang clang-format clang-tidy); fi

command -v dpkg-query >/dev/null 2>&1 ||
  die "this is not Debian: install a C++20 compiler, CMake, Ninja, CLI11, libedit, xxhash, GoogleTest and GoogleMock by hand, then see docs/building.md"

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
  [ "$status" = 'install ok installed' ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null 2>&1 ||
    die "these packages are missing and you are not root: ask for 'apt-get install ${missing[*]}'"
  as_root=(sudo)
fi
say "Installing from Debian: ${missing[*]}"
quietly apt-update "${as_root[@]}" apt-get update
quietly apt-install "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y --no-install-recommends "${missing[@]}"
