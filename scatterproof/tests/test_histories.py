"""`scatterproof histories` and `export`: what they print, and how they end."""

from __future__ import annotations

from pathlib import Path

import msgspec
from typer.testing import CliRunner

from scatterproof.app import app
from scatterproof.conformance import judge

TRACES = Path(judge.__file__).parent / "traces"
READ = """{:process 0, :type :invoke, :f :read, :value nil}
{:process 0, :type :ok, :f :read, :value VALUE}"""


def ended(*words: str) -> tuple[int, str]:
    found = CliRunner().invoke(app, words)
    return found.exit_code, found.output


def test_histories_end_with_what_they_are(tmp_path: Path) -> None:
    good, bad = (tmp_path / f"{value}.edn" for value in (1, 2))
    for value, path in ((1, good), (2, bad)):
        path.write_text(READ.replace("VALUE", str(value)))
    words = ("--model", "register", "--begin", "1")
    assert ended("histories", str(good), *words)[0] == 0
    code, said = ended("histories", str(good), str(bad), *words, "--json")
    assert code == 1
    found = msgspec.json.decode(said[said.index("[") :])
    assert [one["stuck"] for one in found] == [None, "line 1, process 0, read None (ok: 2)"]
    assert ended("histories", str(bad), "--model", "register")[0] == 0
    code, said = ended("histories", str(bad), "--model", "registr")
    assert code == 2
    assert "model 'registr' is unknown; choose of register, " in said


def test_export_writes_a_file_a_trace_or_nothing(tmp_path: Path) -> None:
    called = next((TRACES / "workqueue").rglob("*.ndjson"))
    uncalled = next((TRACES / "totalorder").rglob("*.ndjson"))
    for to, ending in (("jepsen", "edn"), ("porcupine", "json")):
        assert ended("export", str(called), "--to", to, "--out", str(tmp_path / to))[0] == 0
        assert [path.name for path in (tmp_path / to).iterdir()] == [f"{called.stem}.{ending}"]
        assert ended("export", str(uncalled), "--to", to, "--out", str(tmp_path / "none"))[0] == 2
    assert not (tmp_path / "none").exists()
