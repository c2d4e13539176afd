"""ci/cut: rules that two layers miss are named, and the command says so with its exit code."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.cut import cut_rules, lines, main, unnoticed
from scatterproof.fuzz.protocol import load


def test_each_cut_of_a_rule_turns_two_layers_red(tmp_path: Path) -> None:
    cuts = cut_rules(load("totalorder"), tmp_path, only="beacon_due")
    assert [cut.mutant.name for cut in cuts] == ["beacon_due/always", "beacon_due/negate"]
    assert unnoticed(cuts, ["beacon_due"]) == []
    assert "beacon_due/always" in lines(cuts)[1]
    assert "TO-ENV-C" in lines(cuts)[1]


def test_a_cut_that_one_layer_notices_is_named(tmp_path: Path) -> None:
    (first, _) = cut_rules(load("totalorder"), tmp_path, only="beacon_due")
    for layer in first.red[1:]:
        del first.cells[layer]
    (problem,) = unnoticed([first], ["beacon_due"])
    assert problem.startswith("beacon_due/always: only 1 of")


def test_a_rule_that_was_not_cut_is_named() -> None:
    assert unnoticed([], ["deliverable"]) == ["deliverable: no cut could be made of it"]


def test_command_ends_0_when_all_is_noticed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--rule", "beacon_due"]) == 0
    assert "1 rules, 2 cuts, 0 of them" in capsys.readouterr().out


def test_command_ends_2_for_a_rule_or_protocol_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--rule", "nothing"]) == 2
    assert main(["--protocol", "nothing"]) == 2
    errors = capsys.readouterr().err
    assert "no rule begins with 'nothing'" in errors
    assert "protocol 'nothing' is unknown" in errors
