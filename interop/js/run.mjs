// Runs every check of a client, one line for each.

import { asking } from './asking.mjs';
import { checks } from './checks.mjs';
import { login } from './login.mjs';
import { pause } from './peer.mjs';
import { sessions } from './sessions.mjs';

// `connect(address, options)` gives a peer: options are `sessionId` and `protocolVersion` of another
// one, the `person` who answers the server, the `version` to ask for instead of the era's own, the
// `account` to log in with.
export async function run(target, connect) {
    setTimeout(() => {
        console.log('FAIL time: the client is not done after two minutes');
        process.exit(1);
    }, 120_000);
    let failures = 0;
    const one = async (name, check) => {
        const late = pause(15_000).then(() => Promise.reject(new Error('it takes too long')));
        try {
            await Promise.race([check(), late]);
            console.log(`ok ${name}`);
        } catch (error) {
            failures++;
            console.log(`FAIL ${name}: ${String(error.message ?? error).replaceAll('\n', ' ')}`);
        }
    };
    const auth = target.transport.startsWith('auth');
    let peer;
    if (!auth) await one('connection', async () => (peer = await connect(target.address, {})));
    for (const [name, check] of Object.entries(peer ? checks : {})) await one(name, () => check(peer));
    await peer?.client.close();
    for (const [name, [applies, check]] of Object.entries(auth ? login : { ...sessions, ...asking })) {
        if (applies(target)) await one(name, () => alone(check, target, connect));
    }
    process.exit(failures ? 1 : 0);
}

// Runs a check with peers of its own.
async function alone(check, target, connect) {
    const peers = [];
    const another = async (address = target.address, options = {}) => {
        const peer = await connect(address, options);
        peers.push(peer);
        return peer;
    };
    try {
        await check(target, another);
    } finally {
        await Promise.all(peers.map(({ client }) => client.close()));
    }
}
