#!/bin/sh
# Installs the official MCP client SDKs into target/sdk, for tests/it/sdk.rs, the Hugging Face
# hub's library, for tests/it/hub.rs, and numpy, for tests/it/python_client.rs.
# Needs python3 (3.10 or newer) with venv, node (18 or newer) with npm, and the
# package registries. Does nothing when they are there already.
set -eu

cd "$(dirname "$0")/../.."
sdk=target/sdk
mkdir -p "$sdk"

# The versions that the tests were written against.
python_mcp=2.3.0
typescript_sdk=1.32.2
typescript_client=2.4.0
huggingface_hub=2.4.0
numpy=2.4.6

wanted="mcp $python_mcp, sdk $typescript_sdk, client $typescript_client, hub $huggingface_hub, numpy $numpy"
if [ "$(cat "$sdk/installed" 2>/dev/null)" = "$wanted" ]; then
    echo "target/sdk is up to date: $wanted"
    exit 0
fi
rm -f "$sdk/installed"

python3 -m venv --clear "$sdk/venv"
"$sdk/venv/bin/pip" install --quiet --disable-pip-version-check "mcp==$python_mcp" \
    "huggingface_hub==$huggingface_hub" "numpy==$numpy"

# npm puts packages where it finds a package.json.
echo '{ "private": true, "type": "module" }' >"$sdk/package.json"
npm install --prefix "$sdk" --no-audit --no-fund --loglevel=error \
    "@modelcontextprotocol/sdk@$typescript_sdk" \
    "@modelcontextprotocol/client@$typescript_client"

echo "$wanted" >"$sdk/installed"
echo "installed into target/sdk: $wanted"
