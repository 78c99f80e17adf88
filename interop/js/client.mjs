// The official TypeScript client, version 2, in both eras.

import { Client, LOG_LEVEL_META_KEY, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

import { given, INVALID_PARAMS, run } from './checks.mjs';

const { era, url, stdio } = given();
const legacy = era === 'legacy';
const mode = { legacy: 'legacy', modern: 'auto', pinned: { pin: '2026-07-28' } }[era];

await run(async () => {
    const client = new Client({ name: 'interop', version: '1' }, { versionNegotiation: { mode } });
    client.expectedVersion = legacy ? '2025-11-25' : '2026-07-28';
    const logs = [];
    client.setNotificationHandler('notifications/message', it => void logs.push(it.params.data));
    const transport = url
        ? new StreamableHTTPClientTransport(new URL(url))
        : new StdioClientTransport({ command: stdio, args: ['--stdio'], stderr: 'ignore' });
    await client.connect(transport);
    return {
        client,
        legacy,
        version: client.getNegotiatedProtocolVersion(),
        // It shows -32002 with a `data.uri`, the code of the handshake revisions, as the newer one.
        notFound: INVALID_PARAMS,
        call: (params, options) => client.callTool(params, options),
        logs,
        logMeta: legacy ? {} : { _meta: { [LOG_LEVEL_META_KEY]: 'debug' } }
    };
});
