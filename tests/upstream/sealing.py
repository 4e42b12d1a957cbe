"""Opaque blobs, and ids that prove where they come from. Nothing is kept: every proof that the checks need travels inside what was minted
(keyed by SECRET), so that a restart forgets no turn."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import secrets
from typing import Any

SECRET = os.environ.get("UPSTREAM_SECRET", "fake-upstream-secret").encode()


def dumps(obj: Any) -> str:
    return json.dumps(obj, ensure_ascii=False, separators=(",", ":"))


#: Fast JSON string encoder that keeps non-ASCII as raw UTF-8, as the real services do.
jstr = json.encoder.encode_basestring


def canon(obj: Any) -> str:
    return json.dumps(obj, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def digest(obj: Any) -> str:
    text = obj if isinstance(obj, str) else canon(obj)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def mac(*parts: Any, n: int = 12) -> str:
    msg = "\x1f".join(str(p) for p in parts).encode("utf-8", "surrogatepass")
    return hmac.new(SECRET, msg, hashlib.sha256).hexdigest()[:n]


def _keystream(nonce: bytes, length: int) -> bytes:
    out = b""
    for i in range((length + 31) // 32):
        out += hashlib.sha256(SECRET + nonce + i.to_bytes(4, "big")).digest()
    return out[:length]


def seal(kind: str, payload: dict, prefix: bytes = b"", pad: int = 0) -> str:
    """Opaque, authenticated blob. Two seals of one payload differ (random nonce), as in the real API."""
    raw = dumps({**payload, "_": "x" * pad} if pad else payload).encode()
    nonce = secrets.token_bytes(12)
    body = bytes(a ^ b for a, b in zip(raw, _keystream(nonce, len(raw)), strict=True))
    tag = hmac.new(SECRET, kind.encode() + nonce + body, hashlib.sha256).digest()[:16]
    return base64.urlsafe_b64encode(prefix + nonce + tag + body).decode()


def unseal(kind: str, blob: Any, prefix: bytes = b"") -> dict | None:
    """The payload, or None if the blob is not ours or was altered."""
    try:
        data = base64.b64decode(blob.encode("ascii"), altchars=b"-_", validate=True)
    except Exception:
        return None
    if not data.startswith(prefix) or len(data) < len(prefix) + 29:
        return None
    data = data[len(prefix) :]
    nonce, tag, body = data[:12], data[12:28], data[28:]
    want = hmac.new(SECRET, kind.encode() + nonce + body, hashlib.sha256).digest()[:16]
    if not hmac.compare_digest(tag, want):
        return None
    raw = bytes(a ^ b for a, b in zip(body, _keystream(nonce, len(body)), strict=True))
    return json.loads(raw)
