// The official TypeScript client, version 2, in both eras.

import {
    Client,
    LOG_LEVEL_META_KEY,
    SSEClientTransport,
    StreamableHTTPClientTransport
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

import { given, INVALID_PARAMS, noteSteps } from './peer.mjs';
import { run } from './run.mjs';

const target = given();
const { era, legacy } = target;
const mode = { legacy: 'legacy', modern: 'auto', pinned: { pin: '2026-07-28' } }[era];
const streamable = (url, options) => new StreamableHTTPClientTransport(new URL(url), options);
const sse = (url, options) => new SSEClientTransport(new URL(url), options);
const transports = {
    http: streamable,
    stateless: streamable,
    sse,
    auth: streamable,
    'auth-sse': sse,
    stdio: command => new StdioClientTransport({ command, args: ['--stdio'], stderr: 'ignore' })
};

await run(target, async function connect(address, options) {
    const { person, version, account, ...resumed } = options;
    const client = new Client(
        { name: 'interop', version: '1' },
        {
            versionNegotiation: { mode },
            capabilities: person?.capabilities,
            ...(version && { supportedProtocolVersions: [version] })
        }
    );
    if (person) {
        client.setRequestHandler('elicitation/create', ({ params }) => person.elicit(params));
        client.setRequestHandler('sampling/createMessage', ({ params }) => person.sample(params));
        client.setRequestHandler('roots/list', () => person.roots());
    }
    client.expectedVersion = legacy ? '2025-11-25' : '2026-07-28';
    const [logs, told, steps] = [[], [], []];
    const hear = (method, act) => client.setNotificationHandler(`notifications/${method}`, act);
    hear('message', ({ params }) => void logs.push(params.data));
    hear('tools/list_changed', () => void told.push('tools'));
    hear('prompts/list_changed', () => void told.push('prompts'));
    hear('resources/updated', ({ params }) => void told.push(params.uri));
    const login = account && { authProvider: account, fetch: account.fetch };
    const transport = transports[target.transport](address, { ...resumed, ...login });
    noteSteps(transport, steps);
    try {
        await client.connect(transport);
    } catch (error) {
        if (!account?.answer) throw error;
        await transport.finishAuth(account.take());
        return connect(address, options);
    }
    return {
        client,
        transport,
        finishAuth: answer => transport.finishAuth(answer),
        legacy,
        version: client.getNegotiatedProtocolVersion(),
        // It shows -32002 with a `data.uri`, the code of the handshake revisions, as the newer one.
        notFound: INVALID_PARAMS,
        call: (params, options) => client.callTool(params, options),
        logs,
        logMeta: legacy ? {} : { _meta: { [LOG_LEVEL_META_KEY]: 'debug' } },
        told,
        steps
    };
});
