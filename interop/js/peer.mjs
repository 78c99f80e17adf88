// Where the server is, and what both TypeScript clients need once they are connected to it.

import assert from 'node:assert/strict';
import { parseArgs } from 'node:util';

export const INVALID_PARAMS = -32602;
export const METHOD_NOT_FOUND = -32601;
export const RESOURCE_NOT_FOUND = -32002;
export const WATCHED = 'test://watched-resource';

// --era legacy|modern|pinned (--http|--stateless|--sse|--auth|--auth-sse URL | --stdio PROGRAM)
export function given() {
    const string = { type: 'string' };
    const ways = ['http', 'stateless', 'sse', 'auth', 'auth-sse', 'stdio'];
    const options = Object.fromEntries(['era', ...ways].map(name => [name, string]));
    const { era, ...chosen } = parseArgs({ options }).values;
    const [[transport, address]] = Object.entries(chosen);
    const legacy = era === 'legacy';
    // Whether a connection has a session, and whether that is one of Streamable HTTP.
    const sessions = legacy && transport !== 'stateless';
    const streamable = legacy && transport === 'http';
    // Whether the server tells of changes.
    const tells = !legacy || sessions;
    // Whether somebody logs in whose session a header names.
    const named = legacy && transport === 'auth';
    return { era, transport, address, legacy, sessions, streamable, tells, named };
}

// A peer is { client, transport, finishAuth(answer), legacy, version, notFound, call(params, options),
// logs, logMeta, told, steps }: `told` has the short names of the changes that the server told of,
// `steps` the progress of all calls.

// Notes progress as it comes in, before the client sees it: both clients drop the steps that come
// in one read with the answer, and how many those are is a matter of the machine's load.
export function noteSteps(transport, steps) {
    transport.onmessage = ({ method, params }) => {
        if (method === 'notifications/progress') steps.push([params.progress, params.total]);
    };
}

export async function textOf({ call }, name, args = {}) {
    const result = await call({ name, arguments: args });
    assert.ok(!result.isError, JSON.stringify(result.content));
    return result.content[0].text;
}

// Asks to be told of the lists and of one resource, as the era has it; what it gives ends that.
export async function watch({ client, legacy }, uri) {
    if (legacy) {
        if (uri) await client.subscribeResource({ uri });
        return async () => void (uri && (await client.unsubscribeResource({ uri })));
    }
    const lists = { toolsListChanged: true, promptsListChanged: true };
    const filter = uri ? { ...lists, resourceSubscriptions: [uri] } : lists;
    const subscription = await client.listen(filter);
    assert.deepEqual(subscription.honoredFilter, filter);
    return () => subscription.close();
}

// Waits until the server has told of that change.
export async function hear({ told }, name) {
    await settled(() => told.includes(name));
    assert.ok(told.includes(name), `${name} is not among ${JSON.stringify(told)}`);
}

export async function refused(answer, code) {
    const error = await answer.then(
        value => assert.fail(`not refused: ${JSON.stringify(value)}`),
        error => error
    );
    assert.ok([error.code, error.status].includes(code), `${error.code} ${error}`);
}

// Gives what is under way five seconds to come in.
export async function settled(condition) {
    for (let n = 0; n < 250 && !condition(); n++) await pause(20);
}

export const pause = ms => new Promise(done => setTimeout(done, ms));
