"""Corpora at addresses: what a kill leaves there, and that commands go on from it."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from scatterproof.spark.corpus import make_corpus
from scatterproof.spark.layout import MINED
from scatterproof.spark.mine import mine
from scatterproof.spark.tests.material import PROTOCOLS
from scatterproof.spark.tests.s3 import STORAGES, storage
from scatterproof.spark.tests.test_corpus import KILLED, SEED
from scatterproof.spark.unfinished import unfinished_folder
from scatterproof.spec.errors import BadInput, CannotRun
from scatterproof.spec.files import IMPORTED_FROM, write_atomically
from scatterproof.spec.storage import Remote

ANY = PROTOCOLS[0]
AT_ADDRESSES = [kind for kind in STORAGES if kind != "folder"]
RUNS = 6

# The third file is judged, its result is not kept, and all ends.
KILLED_MINING = """
import os, signal, sys
from scatterproof.spark import incremental
from scatterproof.spark.mine import mine
from scatterproof.spec.storage import place_of
judge, judged = incremental.judge_and_keep, []
def until_killed(*arguments, **options):
    judged.append(arguments)
    if len(judged) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return judge(*arguments, **options)
incremental.judge_and_keep = until_killed
mine(place_of(sys.argv[1]))
"""


def killed(script: str, *arguments: str) -> bool:
    """Whether a process that runs this ends by SIGKILL."""
    ended = subprocess.run([sys.executable, "-c", script, *arguments], cwd=IMPORTED_FROM, stderr=subprocess.DEVNULL)
    return ended.returncode == -signal.SIGKILL


def contents(corpus: Path, *folders: str) -> dict[str, bytes]:
    """Of all files that are right in these folders."""
    files = (path for folder in folders for path in (corpus / folder).iterdir() if path.is_file())
    return {f"{path.parent.name}/{path.name}": path.read_bytes() for path in files}


@pytest.mark.slow
@pytest.mark.parametrize("kind", AT_ADDRESSES)
def test_what_was_killed_at_an_address_is_gone_on_with_to_the_same_bytes(
    session: SparkSession, tmp_path: Path, kind: str
) -> None:
    undisturbed = make_corpus(ANY, RUNS, SEED, tmp_path / "corpus", files=RUNS)
    with storage(kind, tmp_path) as (place, settings), pytest.MonkeyPatch.context() as patched:
        for name, value in settings.items():  # tasks have it of the session, which began earlier
            patched.setitem(session.sparkContext.environment, name, value)
        corpus, notes = place / "corpus", list[str]()
        assert killed(KILLED, ANY, str(corpus))
        with pytest.raises(BadInput, match="corpus: is not whole; it is being made, or else run the command that has"):
            mine(corpus)
        assert make_corpus(ANY, RUNS, SEED, corpus, files=RUNS, on_note=notes.append) == undisturbed
        assert notes == [f"going on with what was begun: 2 of {RUNS} runs are there"]
        assert contents(corpus, "events", "runs") == contents(tmp_path / "corpus", "events", "runs")
        assert sorted(path.name for path in corpus.iterdir()) == ["events", "manifest.json", "runs"]

        assert killed(KILLED_MINING, str(corpus))
        notes.clear()
        found = mine(corpus, say=notes.append)
        assert notes == [f"{RUNS - 2} files to judge in this process, 2 known"]
        after = contents(corpus / MINED, "", "violations")
        assert mine(corpus, again=True) == found
        assert after == contents(corpus / MINED, "", "violations")
        assert found.clauses == mine(tmp_path / "corpus").clauses


@pytest.mark.parametrize("kind", AT_ADDRESSES)
def test_an_address_is_looked_into_as_a_folder_is(tmp_path: Path, kind: str) -> None:
    with storage(kind, tmp_path) as (place, _):
        assert isinstance(place, Remote)
        file = place / "events" / "part.parquet"
        with pytest.raises(FileNotFoundError):
            file.read_bytes()
        write_atomically(file, b"whole")
        assert (file.read_bytes(), file.stat().st_size) == (b"whole", 5)
        assert (file.is_file(), file.is_dir(), file.parent.is_dir(), (place / "runs").exists()) == (
            True,
            False,
            True,
            False,
        )
        assert list(file.parent.glob("*.parquet")) == list(file.parent.iterdir()) == [file]
        assert list(file.parent.glob(".*")) == []
        with pytest.raises(TypeError, match="is no path here"):
            (place / "runs").mkdir()
        file.unlink()
        file.unlink(missing_ok=True)
        assert not file.exists()
    with pytest.raises(CannotRun, match=r"events/part.parquet: the storage says: .* check the address"):
        file.exists()


@pytest.mark.parametrize("kind", AT_ADDRESSES)
def test_of_two_commands_at_one_address_the_later_one_wins(tmp_path: Path, kind: str) -> None:
    with storage(kind, tmp_path) as (place, _):
        first = unfinished_folder(place, "manifest.json", b"first")
        begun = first.__enter__()
        with unfinished_folder(place, "manifest.json", b"later") as later, later.part() as part:
            (part / "mine").touch()
            with pytest.raises(CannotRun, match="another command has begun there"), begun.part() as lost:
                (lost / "mine").write_bytes(b"first")
        with pytest.raises(CannotRun, match="another command has begun there"):
            first.__exit__(None, None, None)
        assert (place / "mine").read_bytes() == b""
        assert later.others
        write_atomically(place / "somebody's", b"")
        (place / "mine").unlink()
        with (
            pytest.raises(BadInput, match=r"exists, and is no folder with a manifest\.json"),
            unfinished_folder(place, "manifest.json", b""),
        ):
            pass
