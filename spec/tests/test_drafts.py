"""Catalogues of protocols that are not registered yet: `clauses.draft.toml` is what becomes `clauses.toml`."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from scatterproof.spec.clauses import FILE_NAME, SPEC, load, protocols

DRAFTS = sorted(SPEC.glob("*/clauses.draft.toml"))


@pytest.mark.parametrize("draft", DRAFTS, ids=[draft.parent.name for draft in DRAFTS])
def test_a_draft_is_a_sound_catalogue_of_a_protocol_that_is_not_registered(draft: Path, tmp_path: Path) -> None:
    protocol = draft.parent.name
    (tmp_path / protocol).mkdir()
    shutil.copy(draft, tmp_path / protocol / FILE_NAME)

    assert load(protocol, tmp_path).clauses
    assert protocol not in protocols()
