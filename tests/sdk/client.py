"""Drives a server with the official Python SDK and prints what it saw.

    client.py MODE STEPS COMMAND [ARG...]

MODE is the SDK's: "default" leaves it to the SDK, "legacy" begins with
initialize. STEPS is a JSON list of calls ({"tool", "arguments"}) and reads
({"uri"}). COMMAND is a server that speaks MCP on its standard input and output.
Prints one JSON object.
"""

import asyncio
import base64
import json
import sys

from mcp import Client, MCPError, StdioServerParameters


async def main(mode: str, steps: list, command: list) -> dict:
    server = StdioServerParameters(command=command[0], args=command[1:])
    options = {} if mode == "default" else {"mode": mode}
    async with Client(server, **options) as client:
        tools = (await client.list_tools()).tools
        templates = (await client.list_resource_templates()).resource_templates
        return {
            "protocol": client.protocol_version,
            "server": client.server_info.name,
            "instructions": client.instructions,
            "tools": [tool.name for tool in tools],
            "complete": all(
                t.title and t.description and t.input_schema and t.output_schema and t.annotations for t in tools
            ),
            "templates": [template.uri_template for template in templates],
            "steps": [await take(client, step) for step in steps],
        }


async def take(client: Client, step: dict) -> dict:
    try:
        if "uri" in step:
            return read(await client.read_resource(step["uri"]))
        return called(await client.call_tool(step["tool"], step["arguments"]))
    except MCPError as error:
        return {"code": error.code, "message": str(error)}


def called(result) -> dict:
    blocks = result.content
    return {
        "is_error": bool(result.is_error),
        "structured": result.structured_content,
        "text": "\n".join(block.text for block in blocks if block.type == "text"),
        "images": [size(b.mime_type, b.data) for b in blocks if b.type == "image"],
    }


def read(result) -> dict:
    return {"images": [size(it.mime_type, it.blob) for it in result.contents]}


def size(mime: str, data: str) -> dict:
    return {"mime": mime, "bytes": len(base64.b64decode(data, validate=True))}


if __name__ == "__main__":
    mode, steps, *command = sys.argv[1:]
    print(json.dumps(asyncio.run(main(mode, json.loads(steps), command))))
