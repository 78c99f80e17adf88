// What the server asks in the middle of a call, by each way that its question can travel.

import assert from 'node:assert/strict';

import { pause, refused, textOf } from './peer.mjs';
import { Proxy } from './proxy.mjs';

const [NAME, TOWN, TRADE] = ['Ada Lovelace', 'London Town', 'counting machines'];
const COLOR = 'Which colour do you like?';
const INTERVIEW = ['What is your name?', `Where do you live, ${NAME}?`, 'What do you do?'];
const WORDS = new Map([
    [INTERVIEW[0], NAME],
    [INTERVIEW[1], TOWN],
    [INTERVIEW[2], TRADE],
    ['What is it about?', 'looms'],
    ['Send 1?', true],
    ['Send 4?', false]
]);

// Who sits at the client: answers, and remembers what the questions were.
export class Person {
    asked = [];
    capabilities = { elicitation: {}, sampling: {}, roots: {} };

    thinks() {}

    async elicit({ message, requestedSchema }) {
        this.asked.push(message);
        await this.thinks();
        if (message === 'Send 2?') return { action: 'decline' };
        if (message === 'Send 3?') return { action: 'cancel' };
        if (message === COLOR) {
            const again = this.asked.filter(it => it === COLOR).length > 1;
            return { action: 'accept', content: { color: again ? 'mauve' : 7 } };
        }
        if (!WORDS.has(message)) throw new Error('what a question');
        const [field, ...others] = Object.keys(requestedSchema.properties);
        assert.deepEqual(others, []);
        return { action: 'accept', content: { [field]: WORDS.get(message) } };
    }

    sample({ messages: [{ content }] }) {
        this.asked.push('sampling');
        const text = `heard: ${[content].flat()[0].text}`;
        return { role: 'assistant', model: 'parrot', content: { type: 'text', text } };
    }

    roots() {
        this.asked.push('roots');
        return { roots: [{ uri: 'file:///one' }, { uri: 'file:///two' }] };
    }
}

// The handshake has the server wait for an answer, which takes a session.
const asks = ({ legacy, sessions }) => sessions || !legacy;
const overHttp = ({ transport }) => transport === 'http';

// Shaped as the checks of `sessions.mjs`.
export const asking = {
    interview: [
        asks,
        async ({ address }, connect) => {
            const person = new Person();
            const peer = await connect(address, { person });
            await twice(() => textOf(peer, 'interview'));
            assert.deepEqual(person.asked, [...INTERVIEW, ...INTERVIEW]);
        }
    ],

    transfers: [
        asks,
        async ({ address }, connect) => {
            const person = new Person();
            const peer = await connect(address, { person });
            await transfers(amount => textOf(peer, 'transfer', { amount }));
            assert.deepEqual(person.asked, ['Send 1?', 'Send 2?', 'Send 3?', 'Send 4?']);
            const calls = SENT.map((_, n) => textOf(peer, 'transfer', { amount: n + 1 }));
            assert.deepEqual(await Promise.all(calls), SENT, 'all at once');
        }
    ],

    misfit: [
        asks,
        async ({ address }, connect) => {
            const person = new Person();
            const peer = await connect(address, { person });
            assert.equal(await textOf(peer, 'ask'), 'mauve');
            assert.deepEqual(person.asked, [COLOR, COLOR]);
        }
    ],

    samplingAndRoots: [
        asks,
        async ({ address }, connect) => {
            const person = new Person();
            await samplingAndRoots(await connect(address, { person }));
            assert.deepEqual(person.asked, ['sampling', 'roots']);
        }
    ],

    severalAtOnce: [
        asks,
        async ({ address }, connect) => {
            const person = new Person();
            const peer = await connect(address, { person });
            const answer = await textOf(peer, 'test_input_required_result_multiple_inputs');
            assert.equal(answer, `${NAME}: heard: Write a greeting. (2 roots)`);
            assert.deepEqual(person.asked.toSorted(), [INTERVIEW[0], 'roots', 'sampling']);
        }
    ],

    askingPrompt: [
        asks,
        async ({ address }, connect) => {
            const { client } = await connect(address, { person: new Person() });
            const name = 'test_input_required_result_prompt';
            const { messages } = await client.getPrompt({ name });
            assert.equal(messages[0].content.text, 'Write about this: looms');
        }
    ],

    brokenHandler: [
        asks,
        async ({ address, legacy }, connect) => {
            const person = new Person();
            const peer = await connect(address, { person });
            const call = peer.call({ name: 'transfer', arguments: { amount: 5 } });
            // Without handshake the client gives up by itself, and the server never hears of it.
            if (legacy) assert.equal((await call).isError, true);
            else await assert.rejects(call, /what a question/);
            assert.deepEqual(person.asked, ['Send 5?']);
            assert.equal(await textOf(peer, 'transfer', { amount: 1 }), 'sent 1');
        }
    ],

    brokenQuestion: [
        ({ streamable }) => streamable,
        async ({ address }, connect) => {
            const [proxy, person] = [await Proxy.before(address), new Person()];
            person.thinks = async () => {
                proxy.cut();
                proxy.mend();
                await pause(100); // the client has to notice before it answers
            };
            const peer = await connect(proxy.url, { person });
            await proxy.streams();
            assert.equal(await textOf(peer, 'transfer', { amount: 1 }), 'sent 1');
            assert.deepEqual(person.asked, ['Send 1?']);
            assert.ok(proxy.resumptions > 0, 'the client came back');
        }
    ],

    nobodyToAsk: [
        asks,
        async ({ legacy }, connect) => {
            const peer = await connect();
            const call = peer.call({ name: 'transfer', arguments: { amount: 1 } });
            if (legacy) cannotBeAsked(await call);
            else await refused(call, MISSING_CAPABILITY);
            assert.equal(await textOf(peer, 'echo', { text: 'x' }), 'x');
        }
    ],

    noWayToAsk: [
        target => !asks(target),
        async ({ address }, connect) => {
            const person = new Person();
            const { call } = await connect(address, { person });
            cannotBeAsked(await call({ name: 'transfer', arguments: { amount: 1 } }));
            assert.deepEqual(person.asked, []);
        }
    ],

    sealedState: [
        target => !target.legacy && overHttp(target),
        async ({ address }, connect) => {
            const proxy = await Proxy.before(address);
            const peer = await connect(proxy.url, { person: new Person() });
            numberOf(await textOf(peer, 'interview'));
            unreadable(proxy.sent, 3);
            proxy.close();
        }
    ],

    answersInArguments: [
        ({ legacy }) => legacy,
        async ({ address }, connect) => {
            for (const version of OLD) {
                const person = new Person();
                const peer = await connect(address, { version });
                assert.equal(peer.version, version);
                const { tools } = await peer.client.listTools();
                const { properties } = tools.find(it => it.name === 'interview').inputSchema;
                assert.ok(properties._answers && properties._state, 'the arguments are listed');
                await twice(() => insist(peer, person, 'interview'));
                assert.deepEqual(person.asked, [...INTERVIEW, ...INTERVIEW]);
                await transfers(amount => insist(peer, person, 'transfer', { amount }));
                assert.equal(await insist(peer, person, 'ask'), 'mauve');
            }
        }
    ],

    samplingAndRootsBefore: [
        ({ sessions }) => sessions,
        async ({ address }, connect) => {
            for (const version of OLD) {
                await samplingAndRoots(await connect(address, { version, person: new Person() }));
            }
        }
    ],

    sealedStateInArguments: [
        ({ streamable }) => streamable,
        async ({ address }, connect) => {
            for (const version of OLD) {
                const proxy = await Proxy.before(address);
                const peer = await connect(proxy.url, { version });
                numberOf(await insist(peer, new Person(), 'interview'));
                unreadable(proxy.sent, 3);
                proxy.close();
            }
        }
    ]
};

const MISSING_CAPABILITY = -32021;
const OLD = ['2025-03-26', '2024-11-05'];
const SENT = ['sent 1', 'declined', 'cancelled', 'not sent'];

async function twice(interview) {
    const first = numberOf(await interview());
    assert.equal(numberOf(await interview()), first + 1, 'how often the step ran');
}

// How often the step between the questions of an interview has run by now.
function numberOf(answer) {
    const [number, words] = answer.split(': ');
    assert.equal(words, `${NAME}, ${TOWN}, ${TRADE}`);
    return Number(number);
}

async function transfers(transfer) {
    for (const [n, sent] of SENT.entries()) assert.equal(await transfer(n + 1), sent);
}

function cannotBeAsked({ isError, content }) {
    assert.equal(isError, true);
    assert.match(content[0].text, /elicitation/, 'it names what is missing');
}

async function samplingAndRoots(peer) {
    const answer = await textOf(peer, 'test_sampling', { prompt: 'Who is there?' });
    assert.equal(answer, 'LLM response: heard: Who is there?');
    const roots = await textOf(peer, 'test_input_required_result_list_roots');
    assert.equal(roots, 'Roots: file:///one, file:///two');
}

// Calls a tool, answers what it asks for, and calls it again with that; gives its text.
async function insist({ call }, person, name, args = {}) {
    let extra = {};
    for (let n = 0; n < 10; n++) {
        const result = await call({ name, arguments: { ...args, ...extra } });
        assert.ok(!result.isError, JSON.stringify(result.content));
        if (!result._meta?.inputRequests) return result.content[0].text;
        const { inputRequests, requestState } = result._meta;
        const answers = {};
        for (const [key, { method, params }] of Object.entries(inputRequests)) {
            assert.equal(method, 'elicitation/create');
            answers[key] = await person.elicit(params);
        }
        extra = { _answers: answers, _state: requestState };
    }
    assert.fail(`${name} asks for ever`);
}

// Whether that many states went back, and none shows an answer, be it in base64.
function unreadable(sent, wanted) {
    const states = [...sent.matchAll(/"(?:requestState|_state)": *"([^"]+)"/g)];
    assert.equal(states.length, wanted, 'how many states came back');
    for (const [, state] of states) {
        const parts = state.split('.').map(it => Buffer.from(it, 'base64url').toString('latin1'));
        const shown = [NAME, TOWN].filter(word => [state, ...parts].some(it => it.includes(word)));
        assert.deepEqual(shown, [], 'what a state shows');
    }
}
