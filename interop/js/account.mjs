// A person who logs in, as what the SDKs ask for: an `OAuthClientProvider`, and a `fetch` that notes
// what the client saw on the wire.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';

// Nobody listens there: the browser of tests reads the address that it is sent to.
const REDIRECT = 'http://127.0.0.1:33418/callback';
const URL_CLIENT = 'https://client.example/interop.json';

export class Account {
    // The scopes of each authorization that the person was asked for, and each exchange.
    asked = [];
    seen = [];
    // What came back from the newest authorization, until the client has taken it.
    answer;
    #stored = {};
    #hints;
    #grants;

    // `lifetime` is for how many seconds a token is good; `refresh` whether it can be renewed;
    // `token` one of before; `urlClient` whether the client is named by an address.
    constructor(name, { lifetime = 3600, refresh = true, token, urlClient } = {}) {
        this.#hints = { login_hint: name, lifetime };
        this.#grants = refresh ? ['authorization_code', 'refresh_token'] : ['authorization_code'];
        if (token) this.#stored.tokens = { access_token: token, token_type: 'Bearer' };
        if (urlClient) this.clientMetadataUrl = URL_CLIENT;
    }

    get redirectUrl() {
        return REDIRECT;
    }

    get clientMetadata() {
        return {
            client_name: 'interop',
            redirect_uris: [REDIRECT],
            grant_types: this.#grants,
            response_types: ['code'],
            token_endpoint_auth_method: 'none'
        };
    }

    state = () => (this.#stored.state = randomUUID());
    clientInformation = () => this.#stored.client;
    saveClientInformation = client => void (this.#stored.client = client);
    tokens = () => this.#stored.tokens;
    saveTokens = tokens => void (this.#stored.tokens = tokens);
    codeVerifier = () => this.#stored.verifier;
    saveCodeVerifier = verifier => void (this.#stored.verifier = verifier);
    discoveryState = () => this.#stored.discovery;
    saveDiscoveryState = discovery => void (this.#stored.discovery = discovery);

    // What a host does that wants to log in again.
    forgetRefreshToken() {
        const { refresh_token: _, ...tokens } = this.#stored.tokens;
        this.#stored.tokens = tokens;
    }

    async redirectToAuthorization(url) {
        this.asked.push(url.searchParams.get('scope')?.split(' ').toSorted());
        for (const [name, value] of Object.entries(this.#hints)) url.searchParams.set(name, value);
        const { headers } = await fetch(url, { redirect: 'manual' });
        const location = headers.get('location');
        assert.ok(location?.startsWith(`${REDIRECT}?`), `the browser is sent to ${location}`);
        const answer = new URL(location).searchParams;
        assert.equal(answer.get('state'), this.#stored.state);
        this.answer = answer;
    }

    // What came back, once.
    take() {
        const { answer } = this;
        this.answer = undefined;
        return answer;
    }

    fetch = async (url, init) => {
        const response = await fetch(url, init);
        this.seen.push({
            method: init?.method ?? 'GET',
            path: new URL(url).pathname,
            bearer: new Headers(init?.headers).has('authorization'),
            status: response.status,
            session: response.headers.get('mcp-session-id') ?? undefined,
            challenge: challenge(response.headers.get('www-authenticate') ?? '')
        });
        return response;
    };
}

// The parameters of a `WWW-Authenticate` with one Bearer challenge (RFC 6750 section 3).
function challenge(text) {
    if (!text) return undefined;
    const pairs = [...text.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]);
    // Nothing is there in another form.
    const again = pairs.map(([name, value]) => `${name}="${value}"`).join(', ');
    assert.equal(text, `Bearer ${again}`);
    const { scope, ...others } = Object.fromEntries(pairs);
    return { ...others, scopes: scope?.split(' ').toSorted() };
}
