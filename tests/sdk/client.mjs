// Drives a server with the official TypeScript SDK and prints what it saw.
//
//     client.mjs SDK STEPS COMMAND [ARG...]
//
// SDK is "v1" (@modelcontextprotocol/sdk), "v2" (@modelcontextprotocol/client)
// or "v2-auto" (the same, told to look for the newest revision). STEPS is a JSON
// list of calls ({"tool", "arguments"}) and reads ({"uri"}). COMMAND is a server
// that speaks MCP on its standard input and output. Prints one JSON object.
//
// The packages are found from target/sdk, where install.sh puts them.

import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const installed = createRequire(new URL('../../target/sdk/package.json', import.meta.url));
const load = (name) => import(pathToFileURL(installed.resolve(name)));

const [sdk, steps, command, ...args] = process.argv.slice(2);

async function parts() {
    if (sdk === 'v1') {
        const { Client } = await load('@modelcontextprotocol/sdk/client/index.js');
        const { StdioClientTransport } = await load('@modelcontextprotocol/sdk/client/stdio.js');
        return { Client, StdioClientTransport };
    }
    const { Client } = await load('@modelcontextprotocol/client');
    const { StdioClientTransport } = await load('@modelcontextprotocol/client/stdio');
    return { Client, StdioClientTransport };
}

async function main() {
    const { Client, StdioClientTransport } = await parts();
    const options = sdk === 'v2-auto' ? { versionNegotiation: { mode: 'auto' } } : {};
    const client = new Client({ name: 'engram-test', version: '1' }, options);
    const transport = new StdioClientTransport({ command, args });
    await client.connect(transport);
    const { tools } = await client.listTools();
    const { resourceTemplates } = await client.listResourceTemplates();
    const seen = {
        protocol: client.getNegotiatedProtocolVersion?.() ?? null,
        server: client.getServerVersion().name,
        instructions: client.getInstructions(),
        tools: tools.map((tool) => tool.name),
        complete: tools.every(
            (t) => t.title && t.description && t.inputSchema && t.outputSchema && t.annotations,
        ),
        templates: resourceTemplates.map((template) => template.uriTemplate),
        steps: [],
    };
    for (const step of JSON.parse(steps)) seen.steps.push(await take(client, step));
    await client.close();
    return seen;
}

async function take(client, step) {
    try {
        if (step.uri) return read(await client.readResource({ uri: step.uri }));
        return called(await client.callTool({ name: step.tool, arguments: step.arguments }));
    } catch (error) {
        if (typeof error.code !== 'number') throw error;
        return { code: error.code, message: error.message };
    }
}

function called(result) {
    const blocks = (type) => result.content.filter((block) => block.type === type);
    return {
        is_error: Boolean(result.isError),
        structured: result.structuredContent ?? null,
        text: blocks('text').map((block) => block.text).join('\n'),
        images: blocks('image').map((block) => size(block.mimeType, block.data)),
    };
}

function read(result) {
    return { images: result.contents.map((it) => size(it.mimeType, it.blob)) };
}

function size(mime, data) {
    return { mime, bytes: Buffer.from(data, 'base64').length };
}

console.log(JSON.stringify(await main()));
