"""The archive of classes that TLC starts from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from scatterproof.models import tlc
from scatterproof.models.class_archive import _path, archive_flags, make_archive
from scatterproof.models.java import find_java
from scatterproof.models.tests.test_tlc import COUNTER


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache folder of the test's own, with nothing in it."""
    monkeypatch.setenv("SCATTERPROOF_CACHE", str(tmp_path / "cache"))
    _path.cache_clear()
    yield tmp_path / "cache"
    _path.cache_clear()


@pytest.mark.slow
def test_an_archive_is_made_once_and_java_takes_tlc_from_it(cache: Path, tmp_path: Path) -> None:
    java, jar = find_java(), tlc.find_jar()
    assert archive_flags(java, jar) == ()
    assert make_archive(java, jar)
    (made,) = (cache / "tlc").iterdir()
    before = made.stat()
    assert made.parent.stat().st_mode & 0o777 == 0o700
    assert archive_flags(java, jar)[0] == f"-XX:SharedArchiveFile={made}"
    assert make_archive(java, jar)
    assert made.stat() == before
    # `-Xshare:on` ends Java where the archive does not fit.
    command = [
        str(java),
        "-Xshare:on",
        f"-XX:SharedArchiveFile={made}",
        "-Xlog:class+load",
        "-cp",
        str(jar),
        "tlc2.TLC",
    ]
    _, text = tlc._run(command, tmp_path, 60, None)
    assert "tlc2.TLC source: shared objects file" in text


@pytest.mark.parametrize("mode", [0o777, 0o720])
def test_a_folder_in_which_others_may_write_is_not_used(cache: Path, mode: int) -> None:
    folder = cache / "tlc"
    folder.mkdir(parents=True)
    folder.chmod(mode)
    path = _path(find_java(), tlc.find_jar())
    assert path is not None
    (folder / path.name).write_bytes(b"anything")
    (folder / path.name).chmod(0o600)
    assert path.parent != folder
    assert str(folder) not in " ".join(archive_flags(find_java(), tlc.find_jar()))


def test_a_link_to_anothers_archive_is_not_used(cache: Path, tmp_path: Path) -> None:
    (cache / "tlc").mkdir(parents=True, mode=0o700)
    path = _path(find_java(), tlc.find_jar())
    assert path is not None
    (tmp_path / "other").write_bytes(b"anything")
    path.symlink_to(tmp_path / "other")
    assert archive_flags(find_java(), tlc.find_jar()) == ()


@pytest.mark.slow
def test_tlc_runs_as_well_with_an_archive_that_is_none(cache: Path, tmp_path: Path) -> None:
    (cache / "tlc").mkdir(parents=True, mode=0o700)
    path = _path(find_java(), tlc.find_jar())
    assert path is not None
    path.write_bytes(b"no archive")
    path.chmod(0o400)
    assert archive_flags(find_java(), tlc.find_jar())
    (tmp_path / "Counter.tla").write_text(COUNTER)
    run = tlc.run_tlc(tmp_path / "Counter.tla", "SPECIFICATION Spec\nCONSTANTS\n  Top = 4\n  Round = FALSE\n")
    assert (run.outcome, run.distinct) == (tlc.TlcOutcome.HOLDS, 5)


def test_a_folder_that_cannot_be_made_costs_nothing_but_time(cache: Path) -> None:
    cache.write_text("a file where the folder would be")
    assert archive_flags(find_java(), tlc.find_jar()) == ()
    assert not make_archive(find_java(), tlc.find_jar())
