"""The plugin of `ci/test`: long files are begun first, and the parts of one are never taken apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.pytest_steps import SPARK

FILES = {
    "a_few/test_a.py": "def test_one(): ...\n",
    "b_many/test_b.py": "import pytest\n@pytest.mark.parametrize('n', range(3))\ndef test_many(n): ...\n",
    "c_slow/test_c.py": "import pytest\ndef test_quick(): ...\n@pytest.mark.slow\ndef test_slow(): ...\n",
    "d_session/test_d.py": f"def test_one(session: '{SPARK}'): ...\n",
    "e_session/test_e.py": f"def test_one(session: '{SPARK}'): ...\ndef test_two(): ...\ndef test_three(): ...\n",
}


class Collected:
    """Notes which tests there are, in order."""

    def __init__(self) -> None:
        self.ids: list[str] = []

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.ids = [item.nodeid for item in session.items]


def test_slow_files_come_first_then_those_with_many_tests(tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = slow\n")
    collected = Collected()
    options = ["-p", "ci.pytest_steps", "-p", "no:cacheprovider", "--collect-only", "-q", "-n", "0"]
    ended = pytest.main([*options, "--import-mode=importlib", "--rootdir", str(tmp_path), str(tmp_path)], [collected])
    assert ended is pytest.ExitCode.OK
    assert list(dict.fromkeys(name.split("::")[0].split("/")[0] for name in collected.ids)) == [
        "c_slow",
        "d_session",
        "e_session",
        "b_many",
        "a_few",
    ]


@pytest.mark.slow
def test_what_came_before_is_said_by_the_outermost_pytest_alone(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "steps").write_text("ok      something else (3 s)\n")
    inner = "pytest.main(['-p', 'ci.pytest_steps', '-p', 'no:cacheprovider', '-n', '0', '--collect-only', __file__])"
    (tmp_path / "test_inner.py").write_text(f"import pytest\ndef test_inner(): assert {inner} == 0\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    monkeypatch.setenv("SCATTERPROOF_STEPS", str(tmp_path / "steps"))
    options = ["-p", "ci.pytest_steps", "-p", "no:cacheprovider", "-q", "-n", "1"]
    ended = pytest.main(
        [*options, "--import-mode=importlib", "--rootdir", str(tmp_path), str(tmp_path / "test_inner.py")]
    )

    said = capfd.readouterr().out
    assert ended is pytest.ExitCode.OK
    assert said.count("something else (3 s)") == 1


def test_a_machine_that_is_too_busy_is_told_from_a_failure(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "test_busy.py").write_text(
        "from scatterproof.spec.errors import CannotRun, MachineBusy\n"
        "def test_busy(): raise MachineBusy('it: not in time')\n"
        "def test_other(): raise CannotRun('no Java')\n"
    )
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    options = ["-p", "ci.pytest_steps", "-p", "no:cacheprovider", "-q", "-rs", "-n", "0"]
    ended = pytest.main([*options, "--import-mode=importlib", "--rootdir", str(tmp_path), str(tmp_path)])

    said = capfd.readouterr().out
    assert ended is pytest.ExitCode.TESTS_FAILED
    assert "not run: it: not in time" in said
    assert "1 failed, 1 skipped" in said
