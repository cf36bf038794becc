#!/usr/bin/env bash
# Installs what the tests call and pip does not bring. Nothing happens where it is all there; where it is not, and
# apt-get may run, the Debian package is installed; else the missing command is named, and the tests that need it fail.
set -euo pipefail

# command (or a file that TeX finds), and the package that brings it
needed=(
  "pdflatex texlive-latex-base"
  "bibtex texlive-binaries"
  "cleveref.sty texlive-latex-extra"
  "booktabs.sty texlive-latex-recommended"
  "pplr8t.tfm texlive-fonts-recommended"
  "lmodern.sty lmodern"
  "cc gcc"
  "g++ g++"
  "clang clang"
  "cmake cmake"
  "pkg-config pkg-config"
)

there() {
  case "$1" in
    *.sty | *.tfm) command -v kpsewhich >/dev/null && kpsewhich "$1" >/dev/null ;;
    *) command -v "$1" >/dev/null ;;
  esac
}

packages=()
for line in "${needed[@]}"; do
  read -r thing package <<<"$line"
  there "$thing" || packages+=("$package")
done
[ ${#packages[@]} -eq 0 ] && exit 0

echo "missing: ${packages[*]}"
if ! command -v apt-get >/dev/null; then
  echo "install them with the package manager of this system" >&2
  exit 0
fi
as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo -n)
install=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}")
"${install[@]}" >/dev/null || { "${as_root[@]}" apt-get update -qq && "${install[@]}" >/dev/null; } ||
  echo "apt-get could not install them: ${packages[*]}" >&2
