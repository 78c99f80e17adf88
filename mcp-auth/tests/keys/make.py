"""Makes the keys of the tests and one token of each algorithm, by the openssl command line alone:
nothing of it comes from the library that is tested.

    python3 make.py

Nothing but the tests knows these keys.
"""

import base64
import json
import pathlib
import re
import subprocess

HERE = pathlib.Path(__file__).parent
CLAIMS = {
    "iss": "https://login.example.com",
    "aud": "https://mcp.example.com/mcp",
    "sub": "alice",
    "client_id": "openssl",
    "scope": "mcp:use files:read",
    "exp": 4102444800,
}
KEYS = {
    "rsa": ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"],
    "rsa-other": ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"],
    "p256": ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
    "p384": ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"],
    "ed25519": ["-algorithm", "ED25519"],
}
PSS = ["-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:digest"]
TOKENS = {
    "RS256": ("rsa", "sha256", []),
    "RS384": ("rsa", "sha384", []),
    "RS512": ("rsa", "sha512", []),
    "PS256": ("rsa", "sha256", PSS),
    "PS384": ("rsa", "sha384", PSS),
    "PS512": ("rsa", "sha512", PSS),
    "ES256": ("p256", "sha256", []),
    "ES384": ("p384", "sha384", []),
    "EdDSA": ("ed25519", None, []),
}


def openssl(*arguments, stdin=None):
    return subprocess.run(
        ["openssl", *arguments], input=stdin, capture_output=True, check=True, cwd=HERE
    ).stdout


def encoded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def public(name):
    der = openssl("pkey", "-inform", "DER", "-in", f"{name}.der", "-pubout", "-outform", "DER")
    if name.startswith("rsa"):
        text = openssl("rsa", "-inform", "DER", "-in", f"{name}.der", "-modulus", "-noout")
        modulus = bytes.fromhex(re.search(rb"Modulus=(\w+)", text)[1].decode())
        return {"kty": "RSA", "n": encoded(modulus), "e": "AQAB"}
    if name == "ed25519":
        return {"kty": "OKP", "crv": "Ed25519", "x": encoded(der[-32:])}
    size = int(name[1:]) // 8
    x, y = der[-2 * size : -size], der[-size:]
    return {"kty": "EC", "crv": f"P-{name[1:]}", "x": encoded(x), "y": encoded(y)}


def joined(signature, size):
    """r and s of a DER signature, as RFC 7518 section 3.4 has them."""
    text = openssl("asn1parse", "-inform", "DER", stdin=signature).decode()
    numbers = re.findall(r"INTEGER\s+:(\w+)", text)
    return b"".join(int(number, 16).to_bytes(size, "big") for number in numbers)


def token(algorithm):
    name, digest, options = TOKENS[algorithm]
    header = {"alg": algorithm, "typ": "at+jwt", "kid": name}
    parts = [encoded(json.dumps(part).encode()) for part in (header, CLAIMS)]
    signed = HERE / "signed"
    signed.write_text(".".join(parts))
    how = ["-rawin", "-digest", digest] if digest else ["-rawin"]
    signature = openssl(
        *["pkeyutl", "-sign", "-keyform", "DER", "-inkey", f"{name}.der"],
        *["-in", "signed", *how],
        *[part.replace("-sigopt", "-pkeyopt") for part in options],
    )
    signed.unlink()
    if name in ("p256", "p384"):
        signature = joined(signature, int(name[1:]) // 8)
    return ".".join([*parts, encoded(signature)])


CA_CONF = """\
[ca]
default_ca = tests
[tests]
database = ca.index
new_certs_dir = .
rand_serial = yes
default_md = sha256
policy = any
unique_subject = no
copy_extensions = copy
[any]
commonName = supplied
"""


def certificates():
    """A certificate for 127.0.0.1, and that of who vouches for it."""
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    openssl(
        *["req", *key, "-keyout", "ca.key", "-out", "ca.csr", "-subj", "/CN=mcp-auth tests"],
        *["-addext", "basicConstraints=critical,CA:TRUE"],
        *["-addext", "keyUsage=critical,keyCertSign"],
    )
    openssl(
        *["req", *key, "-keyout", "tls.key", "-out", "tls.csr", "-subj", "/CN=127.0.0.1"],
        *["-addext", "subjectAltName=IP:127.0.0.1", "-addext", "basicConstraints=CA:FALSE"],
    )
    # `ca` alone takes the day on which a certificate begins: no clock of a machine is before it.
    (HERE / "ca.conf").write_text(CA_CONF)
    (HERE / "ca.index").write_text("")
    dates = ["-startdate", "20200101000000Z", "-enddate", "21000101000000Z"]
    sign = ["ca", "-batch", "-notext", "-config", "ca.conf", "-keyfile", "ca.key", *dates]
    openssl(*sign, "-selfsign", "-in", "ca.csr", "-out", "ca.pem")
    openssl(*sign, "-cert", "ca.pem", "-in", "tls.csr", "-out", "tls.pem")
    openssl("x509", "-in", "ca.pem", "-outform", "DER", "-out", "tls-ca.der")
    openssl("x509", "-in", "tls.pem", "-outform", "DER", "-out", "tls-cert.der")
    openssl(
        *["pkcs8", "-topk8", "-nocrypt", "-in", "tls.key", "-outform", "DER"],
        *["-out", "tls-key.der"],
    )
    for left in [*HERE.glob("ca.*"), *HERE.glob("*.pem"), *HERE.glob("*.csr"), HERE / "tls.key"]:
        left.unlink(missing_ok=True)


def main():
    certificates()
    keys = []
    for name, options in KEYS.items():
        openssl("genpkey", *options, "-outform", "DER", "-out", f"{name}.der")
        keys.append({**public(name), "kid": name, "use": "sig"})
    (HERE / "jwks.json").write_text(json.dumps({"keys": keys}, indent=1) + "\n")
    tokens = {algorithm: token(algorithm) for algorithm in TOKENS}
    (HERE / "tokens.json").write_text(json.dumps(tokens, indent=1) + "\n")
    # As the signer of the tests takes them: PKCS #1 for RSA, PKCS #8 for the others.
    for name in ("p256", "p384"):
        key = openssl(
            *["pkcs8", "-topk8", "-nocrypt", "-inform", "DER", "-in", f"{name}.der"],
            *["-outform", "DER"],
        )
        (HERE / f"{name}.der").write_bytes(key)
    for name in ("rsa", "rsa-other"):
        key = openssl("rsa", "-inform", "DER", "-in", f"{name}.der", "-outform", "DER", "-traditional")
        (HERE / f"{name}.der").write_bytes(key)


if __name__ == "__main__":
    main()
