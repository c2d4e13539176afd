"""`--iut p4` and `--iut bmv2`, as a user meets them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from scatterproof import cli

CASE = "TO-BAR-MIN/*"


@pytest.fixture
def said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, request: pytest.FixtureRequest
) -> tuple[int, str]:
    """What `conform` ends with and says of the implementation that the test names."""
    words = ["conform", "--protocol", "totalorder", "--case", CASE, "--results", str(tmp_path), "--iut", request.param]
    monkeypatch.setattr(sys, "argv", ["scatterproof", *words])
    # Whatever else is installed here, BMv2 is not to be found.
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemExit) as ended:
        cli.main()
    told = capsys.readouterr()
    assert isinstance(ended.value.code, int)
    return ended.value.code, told.out + told.err


@pytest.mark.parametrize("said", ["p4", "p4:default"], indirect=True)
def test_the_p4_switch_passes(said: tuple[int, str]) -> None:
    assert said[0] == 0


@pytest.mark.parametrize("said", ["p4:max_for_min", "p4:running_minimum"], indirect=True)
def test_another_build_of_it_fails(said: tuple[int, str]) -> None:
    assert said[0] == 1


@pytest.mark.parametrize("said", ["p4:max_of_min"], indirect=True)
def test_an_unknown_build_is_wrong_usage_and_those_near_it_are_named(said: tuple[int, str]) -> None:
    assert said[0] == 2
    assert "max_for_min" in said[1]


@pytest.mark.parametrize("said", ["p4:", "p5"], indirect=True)
def test_an_unknown_name_is_wrong_usage(said: tuple[int, str]) -> None:
    assert said[0] == 2
    assert "p4, bmv2" in said[1]


@pytest.mark.parametrize("said", ["bmv2"], indirect=True)
def test_without_bmv2_the_sentence_says_what_to_install(said: tuple[int, str]) -> None:
    assert said[0] == 3
    assert "simple_switch_grpc is not on PATH; install BMv2" in said[1]
