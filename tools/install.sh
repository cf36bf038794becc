#!/usr/bin/env bash
# Installs what the tests call and pip does not bring. Nothing happens where it is all there; where it is not, and
# apt-get may run, the Debian package is installed; else the missing command is named, and the tests that need it are
# skipped (under CI they fail).
set -euo pipefail

# command, file by its path or file that TeX finds, and the package that brings it
needed=(
  "pdflatex texlive-latex-base"
  "bibtex texlive-binaries"
  "cleveref.sty texlive-latex-extra"
  "booktabs.sty texlive-latex-recommended"
  "IEEEtran.cls texlive-publishers"
  "revtex4-2.cls texlive-publishers"
  "pplr8t.tfm texlive-fonts-recommended"
  "lmodern.sty lmodern"
  "cc gcc"
  "g++ g++"
  "clang clang"
  "cmake cmake"
  "pkg-config pkg-config"
  "octave-cli octave"
  "coqc coq"
  "qemu-aarch64 qemu-user"
  "aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu"
  "/usr/aarch64-linux-gnu/include/math.h libc6-dev-arm64-cross"
)

there() {
  case "$1" in
    /*) [ -e "$1" ] ;;
    *.sty | *.tfm | *.cls) command -v kpsewhich >/dev/null && kpsewhich "$1" >/dev/null ;;
    *) command -v "$1" >/dev/null ;;
  esac
}

# The sanitizers of clang are libraries that it only recommends, in a package that carries its version.
sanitizers_missing() {
  command -v clang >/dev/null && ! compgen -G "$(clang --print-runtime-dir)/libclang_rt.asan*" >/dev/null
}

# So is its OpenMP, with what the thread sanitizer has to know of it.
openmp_missing() {
  command -v clang >/dev/null && [ ! -e "$(clang -print-resource-dir)/../../libarcher.so" ]
}

as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo -n)

install() {
  echo "installing: $*"
  if ! command -v apt-get >/dev/null; then
    echo "apt-get is not here; install them with the package manager of this system" >&2
    return
  fi
  # Another apt-get may be at work: its lock is waited for.
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 install -y -qq --no-install-recommends "$@")
  "${apt[@]}" >/dev/null 2>&1 || { "${as_root[@]}" apt-get update -qq && "${apt[@]}" >/dev/null; } ||
    echo "apt-get could not install them: $*" >&2
}

packages=()
for line in "${needed[@]}"; do
  read -r thing package <<<"$line"
  there "$thing" || packages+=("$package")
done
[ ${#packages[@]} -eq 0 ] || install "${packages[@]}"
if sanitizers_missing; then
  version=$(clang -dumpversion)
  install "libclang-rt-${version%%.*}-dev"
fi
if openmp_missing; then
  version=$(clang -dumpversion)
  install "libomp-${version%%.*}-dev"
fi
