// The official TypeScript SDK, version 1, which knows the handshake alone.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js';

import { given, RESOURCE_NOT_FOUND, run } from './checks.mjs';

const { url, stdio } = given();

await run(async () => {
    const client = new Client({ name: 'interop', version: '1' });
    client.expectedVersion = '2025-11-25';
    const logs = [];
    client.setNotificationHandler(LoggingMessageNotificationSchema, it => void logs.push(it.params.data));
    const transport = url
        ? new StreamableHTTPClientTransport(new URL(url))
        : new StdioClientTransport({ command: stdio, args: ['--stdio'], stderr: 'ignore' });
    // It tells the negotiated version to the transport alone.
    let version;
    const setVersion = transport.setProtocolVersion?.bind(transport);
    transport.setProtocolVersion = negotiated => {
        version = negotiated;
        setVersion?.(negotiated);
    };
    await client.connect(transport);
    return {
        client,
        legacy: true,
        version,
        notFound: RESOURCE_NOT_FOUND,
        call: (params, options) => client.callTool(params, undefined, options),
        logs,
        logMeta: {}
    };
});
