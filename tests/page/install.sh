#!/bin/sh
# Installs what tests/page/run.sh looks at the page with, into target/page: Playwright for
# Python and axe-core, and where it is not there and this user may, Chromium by apt-get.
# Needs python3 (3.10 or newer) with venv, npm, and the package registries. Does nothing when
# they are there already.
set -eu

cd "$(dirname "$0")/../.."
page=target/page
mkdir -p "$page"

playwright=1.65.2
axe_core=4.14.1

if ! command -v chromium >/dev/null && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
        apt-get install -qq -y --no-install-recommends chromium fonts-dejavu-core >/dev/null; } ||
        echo "chromium could not be installed; tests/page/run.sh will say so"
fi

wanted="playwright $playwright, axe-core $axe_core"
if [ "$(cat "$page/installed" 2>/dev/null)" = "$wanted" ]; then
    echo "$page is up to date: $wanted"
    exit 0
fi
rm -f "$page/installed"
python3 -m venv --clear "$page/python"
"$page/python/bin/pip" install --quiet --disable-pip-version-check "playwright==$playwright"
echo '{ "private": true }' >"$page/package.json"
npm install --prefix "$page" --no-audit --no-fund --loglevel=error "axe-core@$axe_core"
echo "$wanted" >"$page/installed"
echo "$page: $wanted"
