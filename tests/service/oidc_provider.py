"""A small provider of OpenID Connect on loopback: it signs what a test wants."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from joserfc import jwt
from joserfc.jwk import ECKey, RSAKey

CLIENT, SECRET, AUDIENCE = "privet", "the client's secret", "https://curator.example/api"


class SmallProvider:
    """A provider whose people are signed in at once, as ``person``, with keys that may change."""

    def __init__(self) -> None:
        self.keys = [RSAKey.generate_key(2048, {"kid": "first", "use": "sig"})]
        self.published = self.keys
        self.person: dict[str, Any] = {"sub": "7", "preferred_username": "ada"}
        self.changes: dict[str, Any] = {}
        self.fetched: list[str] = []
        self._codes: dict[str, dict[str, str]] = {}
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                provider.get(self)

            def do_POST(self) -> None:
                provider.redeem(self)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.issuer = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def rotate(self, *, publish: bool = True) -> None:
        self.keys = [ECKey.generate_key("P-256", {"kid": "second", "use": "sig"})]
        if publish:
            self.published = self.keys

    def token(self, algorithm: str = "", **changes: Any) -> str:
        """A token, by default an access token that is good."""
        key = self.keys[0]
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": AUDIENCE, "iat": now, "exp": now + 300, **self.person}
        claims = {name: said for name, said in (claims | changes).items() if said is not None}
        algorithm = algorithm or ("RS256" if isinstance(key, RSAKey) else "ES256")
        header = {"alg": algorithm, "kid": key.kid}
        return jwt.encode(header, claims, key, algorithms=[algorithm])

    def get(self, handler: BaseHTTPRequestHandler) -> None:
        parts = urlsplit(handler.path)
        self.fetched.append(parts.path)
        if parts.path == "/.well-known/openid-configuration":
            names = ("authorization", "token", "end_session")
            told = {f"{name}_endpoint": f"{self.issuer}/{name}" for name in names}
            keys = f"{self.issuer}/keys"
            self._answer(handler, 200, {"issuer": self.issuer, "jwks_uri": keys, **told})
        elif parts.path == "/keys":
            public = [key.as_dict(private=False) for key in self.published]
            self._answer(handler, 200, {"keys": public})
        else:
            self._answer(handler, 404, {})

    def authorize(self, address: str) -> str:
        """Sign somebody in whose browser was sent here; where it is sent back to."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        assert asked["client_id"] == CLIENT
        assert asked["response_type"] == "code"
        assert asked["code_challenge_method"] == "S256"
        self._codes["the-code"] = asked
        return f"{asked['redirect_uri']}?code=the-code&state={asked['state']}&iss={self.issuer}"

    def redeem(self, handler: BaseHTTPRequestHandler) -> None:
        sent = handler.rfile.read(int(handler.headers["content-length"])).decode()
        form = {name: values[0] for name, values in parse_qs(sent).items()}
        basic = base64.b64decode(handler.headers["authorization"].removeprefix("Basic ")).decode()
        asked = self._codes.pop(form.get("code", ""), None)
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        good = asked is not None and asked["code_challenge"] == challenge
        if (
            not good
            or basic != f"{CLIENT}:{SECRET}"
            or form["redirect_uri"] != asked["redirect_uri"]
        ):
            self._answer(handler, 400, {"error": "invalid_grant"})
            return
        claims = {"aud": CLIENT, "nonce": asked["nonce"]} | self.changes
        told = {"access_token": "opaque", "token_type": "Bearer", "id_token": self.token(**claims)}
        self._answer(handler, 200, told)

    @staticmethod
    def _answer(handler: BaseHTTPRequestHandler, status: int, told: dict[str, Any]) -> None:
        body = json.dumps(told).encode()
        handler.send_response(status)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)
