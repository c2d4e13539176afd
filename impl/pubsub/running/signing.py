"""Signatures of what a management node gives out: Ed25519, with keys in PEM files.

Clauses: PS-CONFIG.
"""

from __future__ import annotations

import os
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from scatterproof.spec.errors import BadInput, CannotRun


def signed(kind: str, id_: str, content: bytes) -> bytes:
    """The bytes that are signed. Lengths are in them, so that no other kind, id and content give the same bytes."""
    parts = b"scatterproof appliance", kind.encode(), id_.encode(), content
    return b"".join(len(part).to_bytes(8) + part for part in parts)


def make_keys(path: Path) -> Path:
    """Make a key that signs, readable by its owner alone, and beside it the key that verifies; returns that one's path.
    Raises BadInput where either file exists, CannotRun where one cannot be written."""
    public = path.with_name(path.name + ".pub")
    key = Ed25519PrivateKey.generate()
    private_text = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    public_text = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    for file, text, mode in ((path, private_text, 0o600), (public, public_text, 0o644)):
        try:
            with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as opened:
                opened.write(text)
        except FileExistsError:
            raise BadInput(f"{file}: is there already, and is left as it is; name another file") from None
        except OSError as error:
            raise CannotRun(f"{file}: cannot be written: {error.strerror}") from None
    return public


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror}; `scatterproof appliance key` makes keys") from None


class Signer:
    """Signs with the key in this file. Raises BadInput where it has none."""

    def __init__(self, path: Path) -> None:
        try:
            key = load_pem_private_key(_read(path), None)
        except (ValueError, TypeError, UnsupportedAlgorithm):
            key = None
        if not isinstance(key, Ed25519PrivateKey):
            raise BadInput(f"{path}: is no key of Ed25519 that signs; `scatterproof appliance key` makes one")
        self._key = key

    def sign(self, kind: str, id_: str, content: bytes) -> bytes:
        signature: bytes = self._key.sign(signed(kind, id_, content))
        return signature


class Verifier:
    """Verifies with the key in this file. Raises BadInput where it has none."""

    def __init__(self, path: Path) -> None:
        try:
            key = load_pem_public_key(_read(path))
        except (ValueError, UnsupportedAlgorithm):
            key = None
        if not isinstance(key, Ed25519PublicKey):
            raise BadInput(f"{path}: is no key of Ed25519 that verifies; `scatterproof appliance key` makes FILE.pub")
        self._key = key

    def is_valid(self, kind: str, id_: str, content: bytes, signature: bytes) -> bool:
        try:
            self._key.verify(signature, signed(kind, id_, content))
        except InvalidSignature:
            return False
        return True
