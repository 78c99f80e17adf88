#!/usr/bin/env python3
"""Drives the Python SDK and the probe side by side; any disagreement is a failure.

    cargo build --release -p mcp-state --example probe
    python3 -m venv VENV && VENV/bin/pip install mcp==2.3.0
    VENV/bin/python mcp-state/tests/interop.py PROBE ROUNDS [--seed N]

Every round makes one request with nasty arguments (numbers, strings, depths, spellings, repeated
keys, white space) and compares, both ways: request identity and canonical arguments; whole tokens
byte for byte under pinned randomness and clock; state sealed by one and opened by the other, with
the request spelled anew; the verdict, reason included, on a request or token that was tampered
with; bare codec tokens; and claims that only another key holder could have written.
"""

import argparse
import base64
import importlib.metadata
import json
import logging
import random
import string
import subprocess
import sys
from types import SimpleNamespace

import mcp.server.request_state as sdk
from mcp.shared.exceptions import MCPError

SDK = "2.3.0"
METHODS = ["tools/call", "prompts/get", "resources/read"]


class Probe:
    """The Rust side: one JSON object a line in, one out."""

    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __call__(self, op, **members):
        line = json.dumps({"op": op, **members}, ensure_ascii=self.ascii())
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit(f"the probe ended with {self.process.wait()} on {line[:2000]}")
        return json.loads(answer)

    @staticmethod
    def ascii():
        return random.random() < 0.5


class Reasons(logging.Handler):
    """Catches the reasons that the SDK gives to its log alone."""

    def emit(self, record):
        self.last = record.args[-1] if record.args else record.getMessage()


REASONS = Reasons()
sdk.logger.addHandler(REASONS)
sdk.logger.propagate = False


class Nasty:
    """JSON text as no library writes it."""

    NUMBERS = """0 -0 0.0 -0.0 1 -1 1.0 1e0 1E+2 1e-2 -1.5e-7 5e-324 4.9e-324 2.4703282292062328e-324
        1e-400 -1e-400 1e400 -1e400 1e308 1.7976931348623157e308 1.7976931348623159e308
        2.2250738585072014e-308 2.2250738585072011e-308 9007199254740991 9007199254740992
        9007199254740993 9007199254740993.0 18446744073709551615 18446744073709551616
        -9223372036854775808 -9223372036854775809 0.1 0.2 0.3 0.30000000000000004
        0.1000000000000000055511151231257827 123456789012345678 123456789012345678.0
        1e15 1e16 1e17 1e21 1e22 1e23 9999999999999998.0 99999999999999990.0 0.0001 0.00001
        0.000123456789012345678 1.000 10.50 100e-2 0e0 -0e5 0e999999999 1e000000001 1e-000000001
        3.141592653589793238462643383279502884197 8.41e21 2.0e-5 6.02214076e23 NaN Infinity
        -Infinity 9.5367431640625e-07 5.684341886080802e-14 1.1754943508222875e-38""".split()
    CHARS = "aZ09 _-/\\\"'\b\f\n\r\t\x00\x1f\x7f\x80\xa0é\u0100\u2028\u2029\ud7ff\ue000\ufeff\uffff😀𝄞\U0010ffff"

    def number(self):
        match random.randrange(7):
            case 0 | 1:
                return random.choice(self.NUMBERS)
            case 2:
                return str(random.randrange(-(10**6), 10**6))
            case 3:
                digits = "".join(random.choices(string.digits, k=random.choice([1, 17, 40, 400, 4000])))
                return random.choice(["", "-"]) + (digits.lstrip("0") or "0")
            case 4:
                bits = random.getrandbits(64).to_bytes(8, "big")
                value = __import__("struct").unpack(">d", bits)[0]
                return json.dumps(value)
            case 5:
                return repr(2.0 ** random.randrange(-1074, 1024))
            case _:
                whole = str(random.randrange(10 ** random.randrange(1, 20)))
                fraction = "".join(random.choices(string.digits, k=random.randrange(1, 20)))
                exponent = random.choice(["", "", f"e{random.randrange(-330, 330)}", f"E+{random.randrange(20)}"])
                return random.choice(["", "-"]) + whole + "." + fraction + exponent

    def string(self, lone=True):
        """A literal, each character spelled one way or another."""
        out = []
        for _ in range(random.choice([0, 1, 3, 10, 60])):
            char = random.choice(self.CHARS)
            if random.random() < 0.4:
                char = random.choice(string.printable[:62])
            units = char.encode("utf-16-be")
            spelled = "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))
            plain = json.dumps(char, ensure_ascii=False)[1:-1]
            out.append(random.choice([plain, plain, spelled, spelled.replace("\\u", "\\U").upper().replace("\\U", "\\u")]))
            if char == "/":
                out[-1] = random.choice(["/", "\\/"])
            if lone and random.random() < 0.05:
                out.append(f"\\u{random.randrange(0xD800, 0xE000):04x}")
        return '"' + "".join(out) + '"'

    @staticmethod
    def space():
        return random.choice(["", "", "", " ", "\n", "\t\r\n  "])

    def members(self, pairs):
        text = ",".join(f"{self.space()}{key}{self.space()}:{self.space()}{value}{self.space()}" for key, value in pairs)
        return "{" + (text or self.space()) + "}"

    def value(self, depth):
        kind = random.randrange(10 if depth else 6)
        if kind < 2:
            return self.number()
        if kind < 4:
            return self.string()
        if kind < 6:
            return random.choice(["true", "false", "null", "{}", "[]", '""'])
        if kind < 8:
            return self.object(depth)
        items = (self.value(depth - 1) for _ in range(random.choice([0, 1, 2, 5])))
        return "[" + ",".join(f"{self.space()}{item}{self.space()}" for item in items) + "]"

    def object(self, depth):
        keys = [self.string() for _ in range(random.choice([0, 1, 2, 5, 9]))]
        keys += random.sample(keys, len(keys) // 3)
        return self.members((key, self.value(depth - 1)) for key in keys)

    def arguments(self):
        match random.randrange(12):
            case 0:
                return random.choice(["null", "{}", "[]", '""', "0", "-0.0", "0e9", "false", "true", "1", '"x"'])
            case 1:
                depth = random.choice([100, 500, 900])
                openings = [random.choice(['[', '{"b":1,"a":', '{"a":']) for _ in range(depth)]
                endings = ["]" if it == "[" else "}" for it in reversed(openings)]
                return "".join(openings) + self.number() + "".join(endings)
            case _:
                return self.object(random.choice([1, 2, 4]))

    def params(self, method, arguments=None):
        pairs = [('"_meta"', self.value(1)), ('"inputResponses"', self.value(1)), (self.string(), self.value(1))]
        pairs = random.sample(pairs, random.randrange(len(pairs)))
        if random.random() < 0.95:
            name = "uri" if method == "resources/read" else "name"
            pairs += [(f'"{name}"', self.string())] * random.choice([1, 1, 1, 2])
        if random.random() < 0.95:
            key = random.choice(['"arguments"', '"arguments"', '"argum\\u0065nts"'])
            pairs.append((key, arguments or self.arguments()))
        random.shuffle(pairs)
        return self.members(pairs)


NASTY = Nasty()


def respell(text):
    """The same value, spelled by another library: other order, other white space."""

    def shuffled(value):
        if isinstance(value, dict):
            items = list(value.items())
            random.shuffle(items)
            return {key: shuffled(value) for key, value in items}
        return [shuffled(it) for it in value] if isinstance(value, list) else value

    return json.dumps(shuffled(json.loads(text)), indent=random.choice([None, 1]))


def a_text():
    return json.loads(NASTY.string(lone=False))


def a_ring():
    return [random.randbytes(random.choice([32, 33, 64, 200])) for _ in range(random.choice([1, 2, 3]))]


def hexes(items):
    return [item.hex() for item in items]


class Setting:
    """One deployment and one request, as both sides are told of it."""

    def __init__(self):
        self.ring = a_ring()
        self.method = random.choice(METHODS)
        self.params = NASTY.params(self.method)
        self.audience = random.choice([None, "", "demo", a_text()])
        self.principal = random.choice([None, "", '["client",null,null]', a_text()])
        self.ttl = random.choice([600.0, 60.0, 0.5, 1e6, random.uniform(0.1, 1e4)])
        self.now = random.choice([1.79e9, 0.0, 1790000000.25, random.uniform(0, 4e9), float(random.randrange(4 * 10**9))])

    def boundary(self):
        security = sdk.RequestStateSecurity(
            keys=self.ring, ttl=self.ttl, bind_principal=lambda _: self.principal, audience=self.audience
        )
        return sdk.RequestStateBoundary(security, default_audience=None)

    def context(self, **more):
        return SimpleNamespace(method=self.method, params={**json.loads(self.params), **more})

    def members(self):
        names = ["method", "audience", "principal"]
        return {"ring_hex": hexes(self.ring), "params_json": self.params} | {name: getattr(self, name) for name in names}

    def python_open(self, token, at):
        sdk.time = SimpleNamespace(time=lambda: at)
        try:
            return {"state": self.boundary()._unseal(self.context(requestState=token))[0]}
        except MCPError as error:
            wire = (error.error.code, error.error.message, error.error.data)
            assert wire == (-32602, "Invalid or expired requestState", {"reason": "invalid_request_state"}), wire
            return {"reason": REASONS.last}


def compare(what, rust, python, **told):
    if rust != python:
        told = "\n".join(f"  {name}: {value!r}" for name, value in told.items())
        sys.exit(f"DISAGREEMENT on {what}\n  rust: {rust!r}\n  python: {python!r}\n{told}")


def check_identity(probe, it):
    python = it.context().params
    target, digest = sdk._request_identity(it.method, python)
    arguments = {} if it.method == "resources/read" else python.get("arguments") or {}
    expected = {"target": target, "args_digest": digest, "canonical": sdk.compact_json(arguments, sort_keys=True)}
    told = {"method": it.method, "params_json": it.params}
    compare("identity", probe("identity", **told), expected, **told)


def pinned(draws):
    """`os` for the SDK, drawing what it is told to."""
    draws = iter(draws)

    def urandom(n):
        draw = next(draws)
        assert len(draw) == n, (len(draw), n)
        return draw

    return SimpleNamespace(urandom=urandom)


def check_boundary(probe, it):
    """A whole token under pinned clock and randomness, then opened by the other side."""
    state = a_text()
    draws = ([] if it.principal is None else [random.randbytes(8)]) + [random.randbytes(12)]
    sdk.time, sdk.os = SimpleNamespace(time=lambda: it.now), pinned(draws)
    python = it.boundary()._seal(it.context(), state)
    told = it.members() | {"state": state, "ttl": it.ttl, "now": it.now, "random_hex": hexes(draws)}
    rust = probe("envelope", **told)
    compare("envelope", rust.get("token"), python, answer=rust, **told)

    it.params = respell(it.params)
    at = it.now + random.choice([0, it.ttl / 2, -59])
    verdict = it.python_open(rust["token"], at)
    compare("a Rust token in Python", verdict, {"state": state}, at=at, **it.members())
    verdict = probe("open", at=at, token=python, **it.members())
    compare("a Python token in Rust", verdict, {"state": state}, at=at, **it.members())
    check_tampering(probe, it, python)


def tampered(token):
    at = random.randrange(len(token) + 1)
    match random.randrange(6):
        case 0:
            return token[:at]
        case 1:
            return token[:at] + random.choice("AB_-=+/ \n.é") + token[at:]
        case 2:
            return token + random.choice(["A", "=", "==", "\n", " ", "AAAA"])
        case 3:
            return random.choice(["", "v1.", "v1", "v2." + token[3:], "x" * at, token[3:], token * 2])
        case 4:
            raw = bytearray(base64.urlsafe_b64decode(token[3:] + "=="))
            raw[random.randrange(len(raw))] ^= 1 << random.randrange(8)
            return "v1." + base64.urlsafe_b64encode(raw).decode().rstrip("=")
        case _:
            alphabet = string.ascii_letters + string.digits + "-_"
            return token[: max(at - 1, 0)] + random.choice(alphabet) + token[at:]


def check_tampering(probe, it, token):
    at = it.now
    match random.randrange(8):
        case 0:
            it.ring = random.choice([a_ring(), it.ring[1:] or a_ring(), it.ring[::-1]])
        case 1:
            it.method = random.choice(METHODS)
        case 2:
            it.params = NASTY.params(it.method)
        case 3:
            it.audience = random.choice([None, "", "demo", a_text()])
        case 4:
            it.principal = random.choice([None, "", a_text()])
        case 5:
            at = it.now + random.choice([it.ttl, it.ttl + 1, -60, -60.5, -61, 1e10, -1e10])
        case _:
            token = tampered(token)
    verdict = probe("open", at=at, token=token, **it.members())
    compare("a tampered round", verdict, it.python_open(token, at), at=at, token=token, **it.members())


def check_codec(probe, ring):
    """Bare tokens, no claims."""
    payload, nonce = random.randbytes(random.choice([0, 1, 15, 16, 17, 100, 5000])), random.randbytes(12)
    codec, key = sdk.AESGCMRequestStateCodec(ring), random.choice(ring)
    sdk.os = pinned([nonce])
    python = sdk.AESGCMRequestStateCodec([key]).seal(payload)
    told = {"key_hex": key.hex(), "nonce_hex": nonce.hex(), "payload_hex": payload.hex()}
    compare("a bare token", probe("seal", **told), {"token": python}, **told)
    for token in (python, tampered(python)):
        try:
            expected = {"payload_hex": codec.unseal(token).hex()}
        except sdk.InvalidRequestState as refused:
            expected = {"reason": str(refused)}
        compare("unsealing", probe("unseal", ring_hex=hexes(ring), token=token), expected, token=token, ring=hexes(ring))


def forged_claims(it):
    """Claims of another key holder: often right, sometimes not, in any spelling and order."""
    target, digest = sdk._request_identity(it.method, it.context().params)
    numbers = [str(it.now), str(int(it.now)), "NaN", "Infinity", "-Infinity", "1e400", "0", "-0", "1e9", '"1"', "null", "[]"]
    claims = {
        "v": ["1"] * 99 + ["1.0", "2", '"1"', "null", "1e0", "0.1e1", "10e-1"],
        "iat": [repr(it.now)] * 99 + numbers,
        "exp": [repr(it.now + it.ttl)] * 99 + numbers,
        "m": [json.dumps(it.method)] * 30 + [json.dumps(it.method).replace("/", "\\/"), '""', "null", "1"],
        "t": [json.dumps(target)] * 40 + [NASTY.string(), "null", "{}"],
        "a": [json.dumps(digest)] * 40 + ['"A"', "null", "7"],
        "s": [NASTY.string(lone=False)] * 60 + ["null", "1", "{}"],
        "aud": [json.dumps(it.audience)] * 9 + ["null", '"demo"', "[]"],
        "p": ["null"] * 9 + ['"AAAA"', "1", '"' + "A" * 32 + '"', '"' + "A" * 31 + 'B"', '"\\u0041"'],
    }
    if it.principal is not None:
        sdk.os = pinned([random.randbytes(8)])
        claims["p"] += [json.dumps(sdk._principal_claim(it.principal))] * 20
    pairs = [(f'"{name}"', random.choice(texts)) for name, texts in claims.items() if random.random() < 0.99]
    pairs += random.choice([[], [], [(NASTY.string(), NASTY.value(2))]])
    if random.random() < 0.1:
        pairs.append(random.choice(pairs))
    random.shuffle(pairs)
    text = NASTY.members(pairs)
    return random.choice([text] * 9 + [text[:-1], text + "x", "[]", "nope", '"x"', "", "1", "null"])


def check_forgery(probe, it):
    payload = forged_claims(it)
    sdk.os = pinned([random.randbytes(12)])
    token = sdk.AESGCMRequestStateCodec(it.ring).seal(payload.encode())
    verdict = probe("open", at=it.now, token=token, **it.members())
    compare("forged claims", verdict, it.python_open(token, it.now), payload=payload, at=it.now, **it.members())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("probe", help="path of the compiled example")
    parser.add_argument("rounds", type=int, nargs="?", default=1000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    options = parser.parse_args()
    version = importlib.metadata.version("mcp")
    if version != SDK:
        sys.exit(f"this compares with mcp {SDK}, not {version}")
    sys.setrecursionlimit(20_000)
    random.seed(options.seed)
    print(f"interop: {options.rounds} rounds against mcp {SDK}, seed {options.seed}", flush=True)
    probe = Probe(options.probe)
    for _ in range(options.rounds):
        it = Setting()
        check_identity(probe, it)
        check_codec(probe, it.ring)
        check_forgery(probe, it)
        check_boundary(probe, it)
    assert "error" in probe("no such op")
    print("interop: no disagreement")


if __name__ == "__main__":
    main()
