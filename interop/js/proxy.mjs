// A way to the server that remembers what went through, and that can be cut.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';

import { settled } from './peer.mjs';

export class Proxy {
    sent = '';
    received = '';
    #sockets = new Set();
    #gate = Promise.resolve();
    mend = () => {};

    static async before(url) {
        const proxy = new Proxy();
        const { hostname, port, pathname } = new URL(url);
        proxy.listener = createServer(socket => void proxy.#serve(socket, port, hostname));
        proxy.listener.listen(0, '127.0.0.1');
        await once(proxy.listener, 'listening');
        proxy.url = `http://127.0.0.1:${proxy.listener.address().port}${pathname}`;
        return proxy;
    }

    async #serve(socket, port, hostname) {
        socket.on('error', () => {});
        await this.#gate;
        const server = connect(port, hostname);
        this.#copy(socket, server, bytes => (this.sent += bytes.toString('latin1')));
        this.#copy(server, socket, bytes => (this.received += bytes.toString('latin1')));
    }

    #copy(from, to, keep) {
        this.#sockets.add(from);
        from.on('error', () => {});
        from.on('data', bytes => {
            keep(bytes);
            to.write(bytes);
        });
        from.on('close', () => {
            this.#sockets.delete(from);
            to.destroy();
        });
    }

    // Breaks every connection, and lets no other through before `mend`.
    cut() {
        this.#gate = new Promise(mend => (this.mend = mend));
        for (const socket of this.#sockets) socket.destroy();
    }

    close() {
        this.listener.close();
        for (const socket of this.#sockets) socket.destroy();
    }

    get session() {
        return /\r\nmcp-session-id: *(\S+)/i.exec(this.received)?.[1];
    }

    // How many requests named the event that they go on after.
    get resumptions() {
        return this.sent.match(/\r\nlast-event-id: *\S/gi)?.length ?? 0;
    }

    // Waits for the stream that a client opens by itself once it is connected.
    async streams() {
        const open = () => /content-type: text\/event-stream/i.test(this.received);
        await settled(open);
        assert.match(this.sent, /GET \/mcp/);
        assert.ok(open(), 'the client has no stream');
    }
}
