"""What all pages have in common: colours, how pictures look, and how a page's policy names what it allows."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

_COMMON = Path(__file__).with_name("look.css")


def style_of(own: Path) -> str:
    """The style of a page that has this file beside what all have."""
    return "".join(path.read_text(encoding="utf-8") for path in (_COMMON, own))


def policy_hash(text: str) -> str:
    """The text's hash as a content security policy names it; the text is what stands between the tags."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
