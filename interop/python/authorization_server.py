"""A small OAuth 2.1 authorization server for tests. It knows no passwords: whoever asks, agrees.

authorization_server.py [--bind HOST:PORT] [--leeway SECONDS]

It tells its issuer on standard error. That has a path, so that its metadata is found by path
insertion (RFC 8414 section 3.1, and what OpenID has beside it). Clients register (RFC 7591), or
name a client id metadata document. Codes need PKCE with S256 and a resource (RFC 8707), and are
answered with `iss` (RFC 9207). Tokens are JWTs (RFC 9068), signed with ES256; refresh tokens are
good for one use.

Two parameters of the authorization endpoint stand for the person at the browser: `login_hint`
says who it is, and `lifetime` for how many seconds a token shall be good. Servers take a token for
some time after its end: `--leeway` puts the end back by that.
"""

import argparse
import base64
import hashlib
import json
import secrets
import socket
import sys
import time
from urllib.parse import unquote_plus, urlencode, urlsplit

import jwt
import uvicorn
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm
from starlette.applications import Starlette
from starlette.responses import JSONResponse, RedirectResponse
from starlette.routing import Route

REALM = "/realm"
SCOPES = ["mcp:use", "files:write", "audit:log"]
METHODS = ["none", "client_secret_basic", "client_secret_post"]
GRANTS = ["authorization_code", "refresh_token"]

# What one would fetch from the address that a client has for an id; tests have nothing on https.
DOCUMENTS = {
    "https://client.example/interop.json": {
        "client_name": "interop",
        "redirect_uris": ["http://127.0.0.1:33418/callback"],
        "token_endpoint_auth_method": "none",
        "grant_types": GRANTS,
    }
}


class Refused(Exception):
    """An error of RFC 6749, RFC 7591 or RFC 8707, and what was wrong."""

    def __init__(self, code, description, status=400):
        super().__init__(description)
        self.code, self.status = code, status

    def parameters(self):
        return {"error": self.code, "error_description": str(self)}


def need(condition, code, description, status=400):
    if not condition:
        raise Refused(code, description, status)


class AuthorizationServer:
    def __init__(self, origin, leeway):
        self.issuer, self.leeway = f"{origin}{REALM}", leeway
        self.clients, self.codes, self.refreshes = dict(DOCUMENTS), {}, {}
        self.key, self.kid = ec.generate_private_key(ec.SECP256R1()), secrets.token_hex(4)

    def routes(self):
        found = ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"]
        return [
            *(Route(f"{path}{REALM}", self.metadata) for path in found),
            Route(f"{REALM}/jwks", self.jwks),
            Route(f"{REALM}/register", self.register, methods=["POST"]),
            Route(f"{REALM}/authorize", self.authorize),
            Route(f"{REALM}/token", self.token, methods=["POST"]),
        ]

    async def metadata(self, _):
        endpoint = {"authorization": "authorize", "token": "token", "registration": "register"}
        return JSONResponse(
            {
                "issuer": self.issuer,
                **{f"{name}_endpoint": f"{self.issuer}/{it}" for name, it in endpoint.items()},
                "jwks_uri": f"{self.issuer}/jwks",
                "scopes_supported": SCOPES,
                "response_types_supported": ["code"],
                "grant_types_supported": GRANTS,
                "token_endpoint_auth_methods_supported": METHODS,
                "code_challenge_methods_supported": ["S256"],
                "authorization_response_iss_parameter_supported": True,
                "client_id_metadata_document_supported": True,
                # OpenID has these for required.
                "subject_types_supported": ["public"],
                "id_token_signing_alg_values_supported": ["ES256"],
            }
        )

    async def jwks(self, _):
        key = json.loads(ECAlgorithm.to_jwk(self.key.public_key()))
        return JSONResponse({"keys": [key | {"kid": self.kid, "use": "sig", "alg": "ES256"}]})

    async def register(self, request):
        wanted = await request.json()
        uris = wanted.get("redirect_uris") or []
        need(uris, "invalid_redirect_uri", "redirect_uris is empty")
        need(all(map(loopback, uris)), "invalid_redirect_uri", "only loopback is registered")
        method = wanted.get("token_endpoint_auth_method") or "client_secret_basic"
        need(method in METHODS, "invalid_client_metadata", f"no method {method}")
        client_id = secrets.token_urlsafe(12)
        client = {"grant_types": GRANTS[:1], **wanted, "token_endpoint_auth_method": method}
        if method != "none":
            client["client_secret"] = secrets.token_urlsafe(24)
        self.clients[client_id] = client
        return JSONResponse({**client, "client_id": client_id}, 201)

    async def authorize(self, request):
        asked = request.query_params
        # What is wrong with these is told to the person, not to the client.
        client = self.clients.get(asked.get("client_id"))
        need(client, "invalid_request", "unknown client_id")
        redirect = asked.get("redirect_uri")
        need(redirect in client["redirect_uris"], "invalid_request", "unknown redirect_uri")
        try:
            answer = {"code": self.grant(asked)}
        except Refused as refused:
            answer = refused.parameters()
        if "state" in asked:
            answer["state"] = asked["state"]
        answer["iss"] = self.issuer
        return RedirectResponse(f"{redirect}?{urlencode(answer)}", 302)

    def grant(self, asked):
        """The code for an authorization request (RFC 6749 section 4.1.1, RFC 7636 section 4.3)."""
        one_each = len(asked.multi_items()) == len(asked)
        need(one_each, "invalid_request", "a parameter is there twice")
        need(asked.get("response_type") == "code", "unsupported_response_type", "not code")
        challenge = asked.get("code_challenge", "")
        method = asked.get("code_challenge_method")
        pkce = method == "S256" and len(challenge) == 43
        need(pkce, "invalid_request", "PKCE with S256 is required")
        resource = urlsplit(asked.get("resource", ""))
        whole = resource.scheme and resource.netloc and not resource.fragment
        need(whole, "invalid_target", "resource is required, an absolute URI without fragment")
        scopes = asked.get("scope", "").split()
        need(scopes and set(scopes) <= set(SCOPES), "invalid_scope", f"scopes are {SCOPES}")
        code = secrets.token_urlsafe(24)
        self.codes[code] = {
            "client_id": asked["client_id"],
            "redirect_uri": asked["redirect_uri"],
            "challenge": challenge,
            "resource": asked["resource"],
            "scopes": scopes,
            "subject": asked.get("login_hint", "somebody"),
            "lifetime": int(asked.get("lifetime", 3600)),
        }
        return code

    async def token(self, request):
        form = {**await request.form()}
        client_id, client = self.authenticate(request, form)
        kind = form.get("grant_type")
        need(kind in GRANTS, "unsupported_grant_type", f"no grant {kind}")
        need(kind in client["grant_types"], "unauthorized_client", f"not registered for {kind}")
        grant = self.redeem(form) if kind == GRANTS[0] else self.rotate(form)
        need(grant["client_id"] == client_id, "invalid_grant", "it is another client's")
        resource = form.get("resource")
        need(resource == grant["resource"], "invalid_target", "not the resource it was granted for")
        answer = {
            "access_token": self.access_token(grant),
            "token_type": "Bearer",
            "expires_in": grant["lifetime"],
            "scope": " ".join(grant["scopes"]),
        }
        if GRANTS[1] in client["grant_types"]:
            answer["refresh_token"] = grant["refresh"] = secrets.token_urlsafe(24)
            self.refreshes[grant["refresh"]] = grant
        return JSONResponse(answer, headers={"Cache-Control": "no-store"})

    def authenticate(self, request, form):
        """The client of a token request, by the method it registered (RFC 6749 section 2.3)."""
        scheme, _, credentials = request.headers.get("authorization", "").partition(" ")
        client_id, secret, method = form.get("client_id"), form.get("client_secret"), "none"
        if secret is not None:
            method = "client_secret_post"
        if scheme.lower() == "basic":
            pair = base64.b64decode(credentials).decode().partition(":")
            client_id, _, secret = map(unquote_plus, pair)
            method = "client_secret_basic"
        client = self.clients.get(client_id)
        need(client, "invalid_client", "unknown client", 401)
        registered = client["token_endpoint_auth_method"]
        need(method == registered, "invalid_client", f"registered for {registered}", 401)
        good = secrets.compare_digest(secret or "", client.get("client_secret", ""))
        need(good, "invalid_client", "wrong secret", 401)
        return client_id, client

    def redeem(self, form):
        grant = self.codes.pop(form.get("code"), None)
        need(grant, "invalid_grant", "unknown code, or a used one")
        redirect = form.get("redirect_uri")
        need(redirect == grant["redirect_uri"], "invalid_grant", "redirect_uri differs")
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        need(challenge == grant["challenge"], "invalid_grant", "code_verifier does not fit")
        return grant

    def rotate(self, form):
        """A refresh token is used once; one that comes again ends what came of it."""
        token = form.get("refresh_token")
        grant = self.refreshes.get(token)
        need(grant, "invalid_grant", "unknown refresh token")
        newest, grant["refresh"] = grant["refresh"], None
        need(token == newest, "invalid_grant", "a used refresh token")
        return grant

    def access_token(self, grant):
        # With its fraction: a second that is cut off ends a token that its client takes for good.
        now = time.time() - self.leeway
        claims = {
            "iss": self.issuer,
            "sub": grant["subject"],
            "aud": grant["resource"],
            "client_id": grant["client_id"],
            "scope": " ".join(grant["scopes"]),
            "iat": now,
            "exp": now + grant["lifetime"],
            "jti": secrets.token_urlsafe(12),
        }
        header = {"typ": "at+jwt", "kid": self.kid}
        return jwt.encode(claims, self.key, algorithm="ES256", headers=header)


def loopback(uri):
    parts = urlsplit(uri)
    return parts.scheme == "http" and parts.hostname in ("127.0.0.1", "::1", "localhost")


async def refuse(_, refused):
    return JSONResponse(refused.parameters(), refused.status)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bind", default="127.0.0.1:0")
    parser.add_argument("--leeway", type=int, default=0)
    given = parser.parse_args()
    host, _, port = given.bind.rpartition(":")
    with socket.create_server((host, int(port))) as listener:
        server = AuthorizationServer(f"http://{host}:{listener.getsockname()[1]}", given.leeway)
        app = Starlette(routes=server.routes(), exception_handlers={Refused: refuse})
        print(f"issuer {server.issuer}", file=sys.stderr, flush=True)
        uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])


if __name__ == "__main__":
    main()
