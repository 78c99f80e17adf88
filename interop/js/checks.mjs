// What the server has, asked of one connected peer.

import assert from 'node:assert/strict';

import { INVALID_PARAMS, pause, refused, textOf } from './peer.mjs';

export const checks = {
    async negotiation({ client, version }) {
        assert.equal(version, client.expectedVersion);
        assert.ok(client.getServerVersion().name);
        const offered = client.getServerCapabilities();
        for (const capability of ['tools', 'resources', 'prompts', 'completions']) {
            assert.ok(offered[capability], `capability ${capability}`);
        }
    },

    async ping({ client, legacy }) {
        if (legacy) await client.ping();
    },

    async toolListing({ client }) {
        const tools = new Map();
        let cursor;
        do {
            const page = await client.listTools(cursor ? { cursor } : undefined);
            for (const tool of page.tools) tools.set(tool.name, tool);
            cursor = page.nextCursor;
        } while (cursor);
        for (const name of ['echo', 'pick', 'test_simple_text', 'test_error_handling']) {
            assert.equal(tools.get(name)?.inputSchema.type, 'object', `tool ${name} is listed`);
            assert.ok(tools.get(name).description, `${name} has a description`);
        }
        assert.deepEqual(tools.get('echo').inputSchema.required, ['text']);
    },

    async echo(peer) {
        for (const text of ['plain', '', 'é "quoted" \\ \n 漢字 🦀', 'x'.repeat(100_000)]) {
            assert.equal(await textOf(peer, 'echo', { text }), text);
        }
    },

    async echoManyAtOnce(peer) {
        const texts = Array.from({ length: 24 }, (_, n) => `text ${n}`);
        const answers = await Promise.all(texts.map(text => textOf(peer, 'echo', { text })));
        assert.deepEqual(answers, texts);
    },

    async simpleText(peer) {
        const text = await textOf(peer, 'test_simple_text');
        assert.equal(text, 'This is a simple text response for testing.');
    },

    async image({ call }) {
        const { content } = await call({ name: 'test_image_content', arguments: {} });
        assert.equal(content.length, 1);
        assert.equal(content[0].type, 'image');
        assert.equal(content[0].mimeType, 'image/png');
        assert.match(content[0].data, /^iVBOR/);
    },

    async errorResult({ call }) {
        const result = await call({ name: 'test_error_handling', arguments: {} });
        assert.equal(result.isError, true);
        assert.ok(result.content[0].text);
    },

    async structuredResult({ call }) {
        const picked = { count: 3, filter: { a: -7 }, tags: ['x', 'é'] };
        const result = await call({ name: 'pick', arguments: picked });
        assert.ok(!result.isError);
        assert.deepEqual(result.structuredContent, picked);
    },

    async argumentsThatDoNotFit({ call }) {
        const wrong = { count: 'many', filter: { a: 1 }, tags: [] };
        const result = await call({ name: 'pick', arguments: wrong });
        assert.equal(result.isError, true);
        assert.match(result.content[0].text, /count/);
    },

    async unknownTool({ call }) {
        await refused(call({ name: 'no_such_tool', arguments: {} }), INVALID_PARAMS);
    },

    async resourceListing({ client }) {
        const { resources } = await client.listResources();
        assert.ok(resources.some(it => it.uri === 'test://static-text'));
        const { resourceTemplates } = await client.listResourceTemplates();
        assert.ok(resourceTemplates.some(it => it.uriTemplate === 'test://template/{id}/data'));
    },

    async resourceReading({ client }) {
        const read = async uri => (await client.readResource({ uri })).contents[0];
        const text = await read('test://static-text');
        assert.equal(text.text, 'This is the content of the static text resource.');
        const blob = await read('test://static-binary');
        assert.equal(blob.mimeType, 'image/png');
        assert.match(blob.blob, /^iVBOR/);
        assert.match((await read('test://template/123/data')).text, /123/);
    },

    async unknownResource({ client, notFound }) {
        await refused(client.readResource({ uri: 'test://no-such-thing' }), notFound);
    },

    async promptListing({ client }) {
        const { prompts } = await client.listPrompts();
        const prompt = prompts.find(it => it.name === 'test_prompt_with_arguments');
        assert.deepEqual(prompt.arguments.map(it => it.name), ['arg1', 'arg2']);
    },

    async promptGetting({ client }) {
        const name = 'test_prompt_with_arguments';
        const got = await client.getPrompt({ name, arguments: { arg1: 'one', arg2: 'zwei' } });
        assert.equal(got.messages[0].role, 'user');
        assert.match(got.messages[0].content.text, /one.*zwei/);
        await refused(client.getPrompt({ name: 'no_such_prompt' }), INVALID_PARAMS);
    },

    async completion({ client }) {
        const prompt = { type: 'ref/prompt', name: 'greet' };
        const argument = { name: 'city', value: 'city-01' };
        const { completion } = await client.complete({ ref: prompt, argument });
        assert.deepEqual(completion.values, Array.from({ length: 10 }, (_, n) => `city-01${n}`));
        const template = { type: 'ref/resource', uri: 'test://template/{id}/data' };
        await client.complete({ ref: template, argument: { name: 'id', value: '1' } });
    },

    async progress({ call, steps }) {
        const [seen, wanted] = [[], [[0, 100], [50, 100], [100, 100]]];
        const onprogress = ({ progress, total }) => seen.push([progress, total]);
        // A busy machine may have it all come in one read: see `noteSteps`.
        for (let n = 0; n < 3 && !seen.length; n++) {
            steps.length = 0;
            await call({ name: 'test_tool_with_progress', arguments: {} }, { onprogress });
            assert.deepEqual(steps, wanted);
        }
        assert.ok(seen.length >= 1, 'the client passed no step on');
        assert.deepEqual(seen, wanted.slice(0, seen.length));
    },

    async logging({ client, call, legacy, logs, logMeta }) {
        if (legacy) await client.setLoggingLevel('debug');
        logs.length = 0;
        await call({ name: 'test_tool_with_logging', arguments: {}, ...logMeta });
        for (let n = 0; n < 100 && logs.length < 3; n++) await pause(20);
        assert.equal(logs.length, 3);
        assert.match(JSON.stringify(logs[0]), /started/);
        assert.match(JSON.stringify(logs[2]), /completed/);
    }
};
