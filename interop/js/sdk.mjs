// The official TypeScript SDK, version 1, which knows the handshake alone.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
    CreateMessageRequestSchema,
    ElicitRequestSchema,
    ListRootsRequestSchema,
    LoggingMessageNotificationSchema,
    PromptListChangedNotificationSchema,
    ResourceUpdatedNotificationSchema,
    ToolListChangedNotificationSchema
} from '@modelcontextprotocol/sdk/types.js';

import { given, noteSteps, RESOURCE_NOT_FOUND } from './peer.mjs';
import { run } from './run.mjs';

const target = { ...given(), refreshesToStepUp: true };
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
    const { person, version: older, account, ...resumed } = options;
    const capabilities = person?.capabilities;
    const client = new Client({ name: 'interop', version: '1' }, { capabilities });
    if (person) {
        client.setRequestHandler(ElicitRequestSchema, ({ params }) => person.elicit(params));
        client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => person.sample(params));
        client.setRequestHandler(ListRootsRequestSchema, () => person.roots());
    }
    client.expectedVersion = '2025-11-25';
    const [logs, told, steps] = [[], [], []];
    const hear = (schema, act) => client.setNotificationHandler(schema, act);
    hear(LoggingMessageNotificationSchema, ({ params }) => void logs.push(params.data));
    hear(ToolListChangedNotificationSchema, () => void told.push('tools'));
    hear(PromptListChangedNotificationSchema, () => void told.push('prompts'));
    hear(ResourceUpdatedNotificationSchema, ({ params }) => void told.push(params.uri));
    const login = account && { authProvider: account, fetch: account.fetch };
    const transport = transports[target.transport](address, { ...resumed, ...login });
    const finishAuth = answer => transport.finishAuth(answer.get('code'));
    noteSteps(transport, steps);
    // It tells the negotiated version to the transport alone.
    let version = resumed?.protocolVersion;
    const setVersion = transport.setProtocolVersion?.bind(transport);
    transport.setProtocolVersion = negotiated => {
        version = negotiated;
        setVersion?.(negotiated);
    };
    if (version) setVersion(version);
    if (older) offer(transport, older);
    try {
        await client.connect(transport);
    } catch (error) {
        if (!account?.answer) throw error;
        await finishAuth(account.take());
        return connect(address, options);
    }
    return {
        client,
        transport,
        finishAuth,
        legacy: true,
        version,
        notFound: RESOURCE_NOT_FOUND,
        call: (params, options) => client.callTool(params, undefined, options),
        logs,
        logMeta: {},
        told,
        steps
    };
});

// It asks for the newest revision alone, and takes an older one for the server's choice.
function offer(transport, protocolVersion) {
    const send = transport.send.bind(transport);
    transport.send = (message, options) => {
        const { method, params } = message;
        const initialize = { ...message, params: { ...params, protocolVersion } };
        return send(method === 'initialize' ? initialize : message, options);
    };
}
