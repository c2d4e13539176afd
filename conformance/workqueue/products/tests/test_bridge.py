"""A process that carries out calls, and says something else than their results."""

from __future__ import annotations

from pathlib import Path

import pytest

from scatterproof.conformance.serving import program
from scatterproof.conformance.workqueue.products import bridge
from scatterproof.conformance.workqueue.products.bridge import Bridge
from scatterproof.spec.errors import CannotRun


def test_what_is_no_result_is_said_in_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(bridge, "node_program", lambda major: program("echo"))
    with pytest.raises(CannotRun, match=r"^name: its process said '.*script\.mjs.* word', which is no result"):
        Bridge("name", 18, "script.mjs", ["word"], tmp_path)
