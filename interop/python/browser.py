"""The person who logs in, what keeps her tokens, and what her client saw on the wire."""

import base64
import hashlib
import re
import secrets
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2
from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata, OAuthToken

# Nobody listens there: the browser of tests reads the address that it is sent to.
REDIRECT = "http://127.0.0.1:33418/callback"
URL_CLIENT = "https://client.example/interop.json"


class Person:
    """Somebody with a browser and with a client of her own; also the storage of its tokens."""

    def __init__(self, name, lifetime=3600, token=None, url_client=False):
        self._hints = {"login_hint": name, "lifetime": lifetime}
        self.tokens = OAuthToken(access_token=token) if token else None
        self._client, self._url_client = None, url_client
        # The scopes of each authorization that she was asked for, and each exchange of her client.
        self.asked, self.seen = [], []

    def http(self, url):
        """The SDK's client for a server, as an HTTP client that logs in where it has to."""
        provider = OAuthClientProvider(
            url,
            OAuthClientMetadata(client_name="interop", redirect_uris=[REDIRECT]),
            self,
            self._open,
            self._callback,
            client_metadata_url=URL_CLIENT if self._url_client else None,
        )
        hooks = {"response": [self._note]}
        return httpx2.AsyncClient(auth=provider, event_hooks=hooks, timeout=30)

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self._client

    async def set_client_info(self, client):
        self._client = client

    async def _open(self, url):
        self.asked.append(set(parse_qs(urlsplit(url).query)["scope"][0].split()))
        async with httpx2.AsyncClient() as browser:
            answer = await browser.get(f"{url}&{urlencode(self._hints)}")
        location = answer.headers["location"]
        assert location.startswith(f"{REDIRECT}?"), location
        self._answer = parameters(location)

    async def _callback(self):
        return AuthorizationCodeResult(**self._answer)

    async def _note(self, response):
        self.seen.append(Exchange(response))

    def by_hand(self):
        """Her way to a token at the server that her client has logged in at, without the SDK."""
        token = next(it.url for it in self.seen if it.path.endswith("/token"))
        return Flow(token.removesuffix("/token"), self._hints)

    @property
    def session(self):
        """The session of her client, as the server named it."""
        return next((it.session for it in self.seen if it.session), None)


class Flow:
    """The steps to a token; each takes changes of its parameters, where `None` leaves one out."""

    def __init__(self, issuer, hints):
        self._issuer, self._verifier = issuer, secrets.token_urlsafe(32)
        self._client = {"client_id": URL_CLIENT, "redirect_uri": REDIRECT}
        digest = hashlib.sha256(self._verifier.encode()).digest()
        self._asked = {
            **self._client,
            **hints,
            "response_type": "code",
            "code_challenge": base64.urlsafe_b64encode(digest).decode().rstrip("="),
            "code_challenge_method": "S256",
            "scope": "mcp:use",
        }

    async def authorize(self, resource, **changes):
        """What the browser brings back, or the error that the person is shown."""
        asked = {**self._asked, "resource": resource, **changes}
        async with httpx2.AsyncClient() as browser:
            answer = await browser.get(f"{self._issuer}/authorize", params=without(asked))
        if answer.status_code == 302:
            return parameters(answer.headers["location"])
        return answer.json()

    async def exchange(self, code, resource, **changes):
        """The answer to a code, be it a token or an error."""
        form = {"grant_type": "authorization_code", "code": code, "code_verifier": self._verifier}
        form = {**self._client, **form, "resource": resource, **changes}
        async with httpx2.AsyncClient() as client:
            return (await client.post(f"{self._issuer}/token", data=without(form))).json()

    async def token(self, resource, **changes):
        code = (await self.authorize(resource, **changes))["code"]
        return (await self.exchange(code, resource))["access_token"]


def without(form):
    return {name: value for name, value in form.items() if value is not None}


def parameters(location):
    query = parse_qs(urlsplit(location).query)
    return {name: value for name, (value,) in query.items()}


class Exchange:
    """A request of a client and how it was answered."""

    def __init__(self, response):
        self.method, self.url = response.request.method, str(response.request.url)
        self.path = response.request.url.path
        self.bearer = "authorization" in response.request.headers
        self.status = response.status_code
        self.session = response.headers.get("mcp-session-id")
        self.challenge = Challenge(response.headers.get("www-authenticate", ""))

    def __repr__(self):
        return f"{self.method} {self.path} {self.status}"


class Challenge:
    """A `WWW-Authenticate` with one challenge (RFC 6750 section 3)."""

    def __init__(self, text):
        self.scheme, _, parameters = text.partition(" ")
        pairs = re.findall(r'(\w+)="([^"]*)"', parameters)
        self._parameters = dict(pairs)
        # Nothing is there twice or in another form.
        assert ", ".join(f'{name}="{value}"' for name, value in pairs) == parameters, text

    def get(self, name):
        return self._parameters.get(name)

    @property
    def scopes(self):
        return set((self.get("scope") or "").split())
