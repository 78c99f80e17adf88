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
        self._answer = {name: value for name, (value,) in parse_qs(urlsplit(location).query).items()}

    async def _callback(self):
        return AuthorizationCodeResult(**self._answer)

    async def _note(self, response):
        self.seen.append(Exchange(response))

    async def token_for(self, resource, scope="mcp:use", lifetime=3600):
        """A token from the server that her client has logged in at, without the SDK."""
        token_url = next(it.url for it in self.seen if it.path.endswith("/token"))
        verifier = secrets.token_urlsafe(32)
        digest = hashlib.sha256(verifier.encode()).digest()
        client = {"client_id": URL_CLIENT, "redirect_uri": REDIRECT, "resource": resource}
        asked = {
            **client,
            **self._hints,
            "response_type": "code",
            "code_challenge": base64.urlsafe_b64encode(digest).decode().rstrip("="),
            "code_challenge_method": "S256",
            "scope": scope,
            "lifetime": lifetime,
        }
        async with httpx2.AsyncClient() as browser:
            answer = await browser.get(token_url.replace("/token", "/authorize"), params=asked)
            code = parse_qs(urlsplit(answer.headers["location"]).query)["code"][0]
            form = {**client, "grant_type": "authorization_code", "code": code, "code_verifier": verifier}
            answer = await browser.post(token_url, data=form)
        return answer.json()["access_token"]

    @property
    def session(self):
        """The session of her client, as the server named it."""
        return next((it.session for it in self.seen if it.session), None)


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
