"""Recording: what is refused, and what would stop BMv2."""

from __future__ import annotations

from pathlib import Path

import pytest

from scatterproof.impl.bmv2.record import main, without_aborts
from scatterproof.impl.bmv2.recording import Fresh, RecordedPacket, Step

PROGRAMS = Path(__file__).parents[2] / "v1model" / "tests" / "programs"
CONTROLLER = PROGRAMS / "controller.json"


def test_a_program_that_is_not_there_ends_with_exit_code_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.json"
    assert main([str(tmp_path / "none.json"), "--out", str(out)]) == 2
    assert capsys.readouterr().err == f"record: {tmp_path / 'none.json'}: no such file; compile the program first\n"
    assert not out.exists()


def test_steps_that_are_no_recording_end_with_exit_code_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    steps, out = tmp_path / "steps.json", tmp_path / "out.json"
    steps.write_text("[]")
    assert main([str(CONTROLLER), "--steps", str(steps), "--out", str(out)]) == 2
    assert f"record: {steps}: no recording" in capsys.readouterr().err


def test_without_bmv2_it_ends_with_exit_code_3(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    out = tmp_path / "out.json"
    assert main([str(CONTROLLER), "--packets", "1", "--out", str(out)]) == 3
    assert "record: simple_switch_grpc is not on PATH: install BMv2" in capsys.readouterr().err
    assert not out.exists()


def test_packets_that_would_stop_bmv2_are_left_out() -> None:
    fine = RecordedPacket(port=0, data=(b"\x01" + bytes(20)).hex())
    fails = RecordedPacket(port=0, data=(b"\x06" + bytes(20)).hex())
    steps: list[Step] = [fine, fails, Fresh(why="anew"), fails, fine]
    assert without_aborts(steps, CONTROLLER, ports=range(4), cpu_port=255) == [fine, Fresh(why="anew"), fine]
