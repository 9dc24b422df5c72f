#!/bin/sh
# Looks at the page with Chromium (tests/page/look.py): each view, keys alone, forgetting, a
# hundred thousand records, accessibility. Says NOT RUN where there is no Chromium or Playwright;
# tests/page/install.sh installs them.
set -eu

cd "$(dirname "$0")/../.."
page=target/page
chromium=$(command -v chromium || command -v chromium-browser || true)
if [ -z "$chromium" ] || [ ! -f "$page/installed" ]; then
    echo "PAGE TESTS THAT WERE NOT RUN: all of tests/page; chromium or target/page is missing" >&2
    exit 0
fi
# As the tests have built it just before.
cargo build --features "${FEATURES:-failpoints}"
exec "$page/python/bin/python" tests/page/look.py --chromium "$chromium" "$@"
