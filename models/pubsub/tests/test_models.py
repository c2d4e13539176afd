"""TLC finds in each model what is listed. The list is a draft until the protocol is registered: then this is gone, as
the models are run by what runs those of every protocol."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from scatterproof.models.expected import SPEC_FOLDER, Tier, check_models, models_in


@pytest.mark.slow
def test_tlc_finds_in_each_model_of_the_draft_what_is_listed(tmp_path: Path) -> None:
    shutil.copytree(SPEC_FOLDER / "pubsub", tmp_path / "pubsub")
    (tmp_path / "pubsub" / "models.draft.toml").rename(tmp_path / "pubsub" / "models.toml")

    results = check_models("pubsub", Tier.FULL, spec_folder=tmp_path)
    assert {one.name: one.differences for one in results if one.differences} == {}
    assert len(results) == len(models_in("pubsub", Tier.FULL, tmp_path))
