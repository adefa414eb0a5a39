# Sourced by every command in this folder, as the first line of each says, through links to it too.
#
# Gives the command $root (the repository), $uv and the functions `say`, `die` and `sync`, with
# nothing but a POSIX shell and a Python of 3.11 or newer on the machine. A missing uv is installed
# into .tools/uv/, which is ignored by git; the system's Python is only read. What else is in .tools/
# belongs to other commands and is left alone.

set -eu
unset CDPATH PYTHONPATH PYTHONHOME VIRTUAL_ENV UV_PROJECT_ENVIRONMENT
# Each of the hundreds of Pythons that the tests start would compile all it imports.
unset PYTHONDONTWRITEBYTECODE
me=$(readlink -f -- "$0")
root=$(cd -- "$(dirname -- "$me")/.." && pwd -P)
me=scripts/$(basename -- "$me")

say() { printf '%s: %s\n' "$me" "$*" >&2; }
die() {
    say "$@"
    exit 1
}

# Print the first Python on PATH that is new enough and can make virtual environments.
find_python() {
    for candidate in python3.13 python3.12 python3.11 python3 python; do
        command -v "$candidate" >/dev/null 2>&1 || continue
        "$candidate" -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' \
            >/dev/null 2>&1 || continue
        command -v "$candidate"
        return
    done
    die "no usable Python: need 3.11 or newer with the modules venv and ensurepip (some systems" \
        "package them apart, as python3-venv) on PATH as python3.13, python3.12, python3.11," \
        "python3 or python; or put uv on PATH, which brings its own"
}

# Set $uv: the one on PATH, or the one in .tools/uv/, installed when it is missing.
find_uv() {
    uv=$(command -v uv) && return
    uv=$root/.tools/uv/bin/uv
    "$uv" --version >/dev/null 2>&1 && return
    python=$(find_python) || exit 1
    say "uv is not on PATH: installing it into .tools/uv/ with $python"
    "$python" -m venv --clear "$root/.tools/uv" ||
        die "$python could not make an environment in .tools/uv/"
    "$root/.tools/uv/bin/python" -m pip install --quiet --disable-pip-version-check "uv>=0.9" ||
        die "pip could not install uv into .tools/uv/ (is there a network?); or put uv on PATH"
}

# Bring an environment (.venv unless UV_PROJECT_ENVIRONMENT says otherwise) in step with uv.lock.
sync() {
    (cd "$root" && "$uv" sync --quiet --locked "$@") ||
        die "uv could not install what uv.lock names (see above); when a pyproject.toml changed," \
            "run \`uv lock\` and commit uv.lock"
}

# uv.lock is made against one index and `--locked` fails against any other, so that one it is,
# whatever the environment or a configuration file of uv says.
unset UV_INDEX UV_INDEX_URL UV_EXTRA_INDEX_URL UV_FIND_LINKS UV_NO_INDEX UV_FROZEN UV_PROJECT
UV_DEFAULT_INDEX=$(sed -n 's/.*registry = "\([^"]*\)".*/\1/p' "$root/uv.lock" | sort -u | head -n 1)
export UV_DEFAULT_INDEX

# Trust whom the machine trusts, as pip does: its own proxy may stand before the index.
: "${UV_SYSTEM_CERTS=1}"
export UV_SYSTEM_CERTS

find_uv
