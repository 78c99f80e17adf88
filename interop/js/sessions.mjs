// What lasts longer than a call: sessions, subscriptions, streams. Each check connects anew.

import assert from 'node:assert/strict';

import { hear, METHOD_NOT_FOUND, refused, settled, textOf, WATCHED, watch } from './peer.mjs';
import { Proxy } from './proxy.mjs';

// Each check has the targets that it is for, the target and `connect(address, options)`, which
// gives another peer and closes it when the check is over.
export const sessions = {
    sessionValues: [
        ({ sessions }) => sessions,
        async (target, connect) => {
            const [one, other] = [await connect(), await connect()];
            assert.equal(await textOf(one, 'count'), '1');
            assert.equal(await textOf(one, 'count'), '2');
            assert.equal(await textOf(other, 'count'), '1');
            assert.equal(await textOf(one, 'count'), '3');
        }
    ],

    noSessionValues: [
        ({ sessions }) => !sessions,
        async (target, connect) => {
            const { call } = await connect();
            assert.equal((await call({ name: 'count', arguments: {} })).isError, true);
        }
    ],

    handles: [
        () => true,
        async ({ transport }, connect) => {
            const peer = await connect();
            const handle = await textOf(peer, 'open_counter');
            const other = await textOf(peer, 'open_counter');
            assert.equal(await textOf(peer, 'count', { handle }), '1');
            assert.equal(await textOf(peer, 'count', { handle }), '2');
            assert.equal(await textOf(peer, 'count', { handle: other }), '1');
            // On stdio the next client has a server of its own.
            if (transport !== 'stdio') {
                assert.equal(await textOf(await connect(), 'count', { handle }), '3');
            }
            assert.equal(await textOf(peer, 'close_counter', { handle }), 'ended');
            assert.equal((await peer.call({ name: 'count', arguments: { handle } })).isError, true);
            assert.equal(await textOf(peer, 'count', { handle: other }), '2');
        }
    ],

    subscription: [
        ({ tells }) => tells,
        async (target, connect) => {
            const { peer } = await streaming(target, connect);
            const leave = await watch(peer, WATCHED);
            await textOf(peer, 'test_trigger_resource_update');
            await hear(peer, WATCHED);
            await leave();
            peer.told.length = 0;
            await watch(peer);
            await textOf(peer, 'test_trigger_resource_update');
            // What comes after shows that nothing came before.
            await textOf(peer, 'test_trigger_prompt_change');
            await hear(peer, 'prompts');
            assert.ok(!peer.told.includes(WATCHED), 'heard of it after the end');
        }
    ],

    listChanges: [
        ({ tells }) => tells,
        async (target, connect) => {
            const { peer } = await streaming(target, connect);
            await watch(peer);
            await textOf(peer, 'test_trigger_tool_change');
            await hear(peer, 'tools');
            await textOf(peer, 'test_trigger_prompt_change');
            await hear(peer, 'prompts');
        }
    ],

    reconnection: [
        () => true,
        async (target, connect) => {
            const { peer, proxy } = await streaming(target, connect);
            assert.equal(await textOf(peer, 'test_reconnection'), 'Reconnected.');
            if (proxy) assert.equal(proxy.resumptions, 1, 'how often the client came back');
        }
    ],

    brokenStream: [
        ({ streamable }) => streamable,
        async (target, connect) => {
            const { peer, proxy } = await streaming(target, connect);
            const other = await connect();
            await watch(peer, WATCHED);
            proxy.cut();
            await textOf(other, 'test_trigger_resource_update');
            proxy.mend();
            await hear(peer, WATCHED);
            assert.equal(proxy.resumptions, 1, 'how often the client came back');
            await textOf(other, 'test_trigger_prompt_change');
            await hear(peer, 'prompts');
            assert.equal(peer.told.filter(it => it === WATCHED).length, 1, 'how often it heard');
        }
    ],

    brokenCall: [
        ({ streamable }) => streamable,
        async (target, connect) => {
            const { peer, proxy } = await streaming(target, connect);
            const call = peer.call({ name: 'slow', arguments: { ms: 600 } }, { onprogress: () => {} });
            await settled(() => peer.steps.length);
            proxy.cut();
            proxy.mend();
            assert.equal((await call).content[0].text, '600');
            const thirds = peer.steps.map(([progress]) => Math.round(progress * 3));
            assert.deepEqual(thirds, [0, 1, 2, 3]);
        }
    ],

    deletion: [
        ({ streamable }) => streamable,
        async (target, connect) => {
            const { peer, proxy } = await streaming(target, connect);
            const { sessionId, protocolVersion } = peer.transport;
            assert.equal(await textOf(peer, 'count'), '1');
            const resumed = await connect(target.address, { sessionId, protocolVersion });
            assert.equal(await textOf(resumed, 'count'), '2');
            await peer.transport.terminateSession();
            assert.match(proxy.sent, /DELETE \/mcp/);
            assert.match(proxy.received, /HTTP\/1\.1 204 /);
            // The client forgets the session that it has ended; the other one still names it.
            await refused(textOf(resumed, 'count'), 404);
        }
    ],

    statelessness: [
        ({ tells }) => !tells,
        async (target, connect) => {
            const proxy = await Proxy.before(target.address);
            const { client } = await connect(proxy.url);
            const { tools, resources } = client.getServerCapabilities();
            assert.deepEqual([tools.listChanged, resources.subscribe], [undefined, undefined]);
            await refused(client.subscribeResource({ uri: WATCHED }), METHOD_NOT_FOUND);
            assert.equal(proxy.session, undefined);
            await settled(() => proxy.received.includes('HTTP/1.1 405 '));
            assert.match(proxy.received, /HTTP\/1\.1 405 /, 'there is no stream');
            proxy.close();
        }
    ]
};

// A peer that hears what it has not asked for, and the proxy on its way if there is one.
async function streaming({ streamable, address }, connect) {
    if (!streamable) return { peer: await connect() };
    const proxy = await Proxy.before(address);
    const peer = await connect(proxy.url);
    await proxy.streams();
    return { peer, proxy };
}
