// Logging in: from nothing, again, with more scopes, and who else gets in.

import assert from 'node:assert/strict';

import { Account } from './account.mjs';
import { pause, refused, textOf } from './peer.mjs';

const USE = ['mcp:use'];
const ALL = ['audit:log', 'files:write', 'mcp:use'];
const WELL_KNOWN = '/.well-known/oauth-protected-resource';

// Shaped as the checks of `sessions.mjs`.
export const login = {
    login: [
        () => true,
        async (target, connect) => {
            const account = new Account('ada');
            const peer = await connect(target.address, { account });
            const { tools } = await peer.client.listTools();
            assert.ok(tools.some(it => it.name === 'echo'));
            assert.equal(await textOf(peer, 'echo', { text: 'x' }), 'x');
            const [first, ...others] = account.seen;
            challenged(target, first);
            const server = '/.well-known/oauth-authorization-server';
            const { pathname } = new URL(target.address);
            for (const step of [WELL_KNOWN, server, '/register', '/token', pathname]) {
                const { method, path, status } = others.shift();
                assert.ok(path.includes(step), `${path} is not ${step}`);
                assert.ok(status < 300, `${method} ${path} ${status}`);
            }
            assert.deepEqual(others.filter(it => it.status === 401), [], 'later refusals');
            assert.deepEqual(account.asked, [USE]);
        }
    ],

    // Not over HTTP+SSE, where these clients know no 403.
    stepUp: [
        ({ transport }) => transport === 'auth',
        async (target, connect) => {
            const account = new Account('ada', { refresh: !target.refreshesToStepUp });
            const peer = await connect(target.address, { account });
            assert.equal(await textOf(peer, 'echo', { text: 'before' }), 'before');
            assert.deepEqual(account.asked, [USE]);
            await write(peer, account);
            steppedUp(target, account);
            await write(peer, account);
            assert.equal(await textOf(peer, 'echo', { text: 'after' }), 'after');
            assert.equal(account.asked.length, 2, 'authorizations at the end');
            const sessions = new Set(account.seen.map(it => it.session).filter(Boolean));
            assert.equal(sessions.size, target.named ? 1 : 0, 'sessions after the login');
        }
    ],

    // Version 1 renews a token where it should ask for another, and gives up.
    stepUpAfterAll: [
        ({ refreshesToStepUp, named }) => refreshesToStepUp && named,
        async (target, connect) => {
            const account = new Account('ada');
            const peer = await connect(target.address, { account });
            await refused(textOf(peer, 'write', WRITE), 403);
            assert.equal(await textOf(peer, 'echo', { text: 'x' }), 'x');
            assert.deepEqual(account.asked, [USE]);
            account.forgetRefreshToken();
            await write(peer, account);
            assert.deepEqual(account.asked, [USE, ALL]);
        }
    ],

    refresh: [
        () => true,
        async (target, connect) => {
            const account = new Account('ada', { lifetime: LIFETIME });
            const peer = await connect(target.address, { account });
            const before = await counted(peer, target);
            const old = account.tokens();
            account.seen.length = 0;
            await pause(LIFETIME * 1000 + 200);
            assert.equal(await counted(peer, target), before + 1, 'the session goes on');
            // The stream that the client opens by itself may have begun only now.
            const late = account.seen.find(it => it.bearer && it.status >= 400);
            challenged(target, late, 'invalid_token');
            const { access_token, refresh_token } = account.tokens();
            assert.notEqual(access_token, old.access_token);
            assert.notEqual(refresh_token, old.refresh_token);
            assert.deepEqual(account.asked, [USE]);
        }
    ],

    tokenOfBefore: [
        () => true,
        async (target, connect) => {
            const account = new Account('ada', { token: 'no.such.token' });
            const peer = await connect(target.address, { account });
            assert.equal(await textOf(peer, 'echo', { text: 'x' }), 'x');
            assert.equal(account.seen[0].bearer, true, 'the client sent its token');
            challenged(target, account.seen[0], 'invalid_token');
            assert.deepEqual(account.asked, [USE]);
        }
    ],

    urlClient: [
        () => true,
        async (target, connect) => {
            const account = new Account('ada', { urlClient: true });
            const peer = await connect(target.address, { account });
            assert.equal(await textOf(peer, 'echo', { text: 'x' }), 'x');
            assert.ok(!account.seen.some(it => it.path.endsWith('/register')), 'it registered');
            assert.deepEqual(account.asked, [USE]);
        }
    ],

    sessionOfAnother: [
        ({ named }) => named,
        async ({ address }, connect) => {
            const [ada, grace] = [new Account('ada'), new Account('grace')];
            const peer = await connect(address, { account: ada });
            assert.equal(await textOf(peer, 'count'), '1');
            const { sessionId, protocolVersion } = peer.transport;
            const other = await connect(address, { account: grace, sessionId, protocolVersion });
            await refused(loggingIn(other, grace, () => textOf(other, 'count')), 404);
            assert.deepEqual(grace.asked, [USE]);
            assert.equal(await textOf(peer, 'count'), '2');
            const same = await connect(address, { account: ada, sessionId, protocolVersion });
            assert.equal(await textOf(same, 'count'), '3');
        }
    ],

    handleOfAnother: [
        () => true,
        async ({ address }, connect) => {
            const one = await connect(address, { account: new Account('ada') });
            const other = await connect(address, { account: new Account('grace') });
            const handle = await textOf(one, 'open_counter');
            assert.equal(await textOf(one, 'count', { handle }), '1');
            const foreign = await other.call({ name: 'count', arguments: { handle } });
            assert.equal(foreign.isError, true);
            assert.equal(await textOf(one, 'count', { handle }), '2');
        }
    ]
};

const LIFETIME = 3;
const WRITE = { path: 'notes.txt', text: 'hello' };
const WRITTEN = 'ada wrote 5 bytes to notes.txt';

async function write(peer, account) {
    const text = await loggingIn(peer, account, () => textOf(peer, 'write', WRITE));
    assert.equal(text, WRITTEN);
}

// Does a thing, and once more where the person had to log in for it.
async function loggingIn(peer, account, act) {
    try {
        return await act();
    } catch (error) {
        if (!account.answer) throw error;
        await peer.finishAuth(account.take());
        return act();
    }
}

// Whether a request was refused for its credentials (RFC 6750 section 3.1).
function challenged(target, { status, challenge }, error) {
    assert.equal(status, 401);
    // Who sent no token is told of no error.
    assert.equal(challenge.error, error);
    assert.deepEqual(challenge.scopes, USE);
    assert.equal(challenge.resource_metadata, metadata(target));
}

// Whether one call was refused for its scopes, which names all that it needs, and then asked for.
function steppedUp(target, { asked, seen }) {
    const [refusal, ...others] = seen.filter(it => it.status === 403);
    assert.equal(others.length, 0, 'further refusals');
    assert.equal(refusal.challenge.error, 'insufficient_scope');
    assert.deepEqual(refusal.challenge.scopes, ALL);
    assert.equal(refusal.challenge.resource_metadata, metadata(target));
    assert.deepEqual(asked, [USE, ALL]);
}

function metadata({ address, transport }) {
    const { origin, pathname } = new URL(address);
    // Clients of HTTP+SSE know another path than the others: there the origin is protected.
    return `${origin}${WELL_KNOWN}${transport === 'auth' ? pathname : ''}`;
}

// A number that grows by one with each call, by what the era keeps it in.
async function counted(peer, { sessions }) {
    if (sessions) return Number(await textOf(peer, 'count'));
    peer.handle ??= await textOf(peer, 'open_counter');
    return Number(await textOf(peer, 'count', { handle: peer.handle }));
}
