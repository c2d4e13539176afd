"""The one command line of all products, on a toy."""

from __future__ import annotations

import sqlite3
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import pytest

from scatterproof.conformance.adapters.products import Play
from scatterproof.conformance.workqueue.cases.building import puts, receives
from scatterproof.conformance.workqueue.products.__main__ import main
from scatterproof.conformance.workqueue.products.sqs import play
from scatterproof.conformance.workqueue.products.tests.toys import LONG_NS, Sqs, toy
from scatterproof.spec.errors import BadInput


@pytest.mark.parametrize(("order", "code", "broken"), [((0, 1), 0, 0), ((1, 0), 1, 2)])
def test_the_exit_code_says_whether_a_run_broke_a_claim(
    order: tuple[int, int], code: int, broken: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["toy", "--runs", "2", "--results", str(tmp_path)], [toy(order)]) == code
    assert f"toy: {broken} of 2 runs break" in capsys.readouterr().out
    assert (tmp_path / "toy" / "run-1.ndjson").is_file()


def test_a_quiet_run_keeps_clear_of_what_the_product_breaks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["toy", "--runs", "2", "--quiet", "--results", str(tmp_path)], [toy((1, 0))]) == 0
    assert "toy: 0 of 2 runs break" in capsys.readouterr().out


def test_it_is_said_in_how_many_runs_a_clause_was_at_stake(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["toy", "--runs", "2", "--results", str(tmp_path)], [toy((0, 1))])
    assert "toy: at stake: Q-LEASE in 2, Q-RECEIPT in 0, Q-DEDUP in 0" in capsys.readouterr().out


def test_what_a_clients_own_error_says_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def serve(folder: Path) -> AbstractContextManager[Play]:
        raise sqlite3.OperationalError("disk I/O\nerror")

    broken = replace(toy((0, 1)), serve=serve, errors=("sqlite3.Error",))
    assert main(["toy", "--results", str(tmp_path)], [broken]) == 3
    told = capsys.readouterr().err
    assert told.startswith("toy: its client could not go on, and says sqlite3.OperationalError: disk I/O error; see ")
    with pytest.raises(sqlite3.Error):
        main(["toy", "--results", str(tmp_path)], [replace(broken, errors=("sqlite3.DataError",))])


def test_what_is_not_installed_is_not_run_and_the_sentence_says_what_installs_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--results", str(tmp_path)], [toy((0, 1), "there is no toy; install toys")]) == 3
    assert "toy: not run: there is no toy; install toys" in capsys.readouterr().err


def test_an_unknown_product_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["stranger"])
    assert "'stranger' is unknown; choose of moto" in capsys.readouterr().err


def test_a_lease_with_a_part_of_a_second_is_refused_and_not_cut_off() -> None:
    # The queue would be held to a lease that it was not asked for: a false alarm.
    with pytest.raises(BadInput, match="1500000000 ns: SQS has whole seconds alone"):
        play(Sqs((0, 0)), "run", "toy 1", [puts(0, 1), receives(0, 2, 1, LONG_NS // 20)])
