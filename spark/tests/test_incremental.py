"""Mining a corpus that has grown or changed gives what mining all of it at once gives, and judges what is new alone."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from scatterproof.conformance.tests.runs import conforming
from scatterproof.spark.found import (
    PartFindings,
    digest_of,
    identity_of,
    judge_and_keep,
    read_found,
    write_found,
)
from scatterproof.spark.incremental import kept_results
from scatterproof.spark.layout import MINED, events_path, runs_path
from scatterproof.spark.mine import mine
from scatterproof.spark.mined import MineResult
from scatterproof.spark.read import Pair, parts_of
from scatterproof.spark.tests.material import value
from scatterproof.spark.violations import read_violations
from scatterproof.spec.errors import BadInput, CannotRun
from scatterproof.spec.trace import Kind, Trace
from scatterproof.spec.trace_parquet import write_runs

SHAPES = (("star", "C"), ("star", "D9"), ("star", "A"))


def a_run(run: int, *, twice: bool = False) -> Trace:
    """twice: one message is delivered twice, which breaks clauses."""
    trace = conforming(*SHAPES[run % len(SHAPES)])
    rows = list(trace.rows)
    if twice:
        at = next(at for at, row in enumerate(rows) if value(trace, row, "kind") == Kind.DELIVERED)
        rows.insert(at, rows[at])
    return Trace(msgspec.structs.replace(trace.header, run=run), rows)


def write(corpus: Path, file: int, *, twice: bool = False, run: int | None = None) -> Pair:
    """One pair of files, with one run of the same number, unless there is another one."""
    pair = Pair(events_path(corpus, file), runs_path(corpus, file))
    write_runs(*pair, [a_run(file if run is None else run, twice=twice)])
    return pair


def remove(corpus: Path, file: int) -> None:
    events_path(corpus, file).unlink()
    runs_path(corpus, file).unlink()


def kept_path(corpus: Path, file: int) -> Path:
    return corpus / MINED / "violations" / f"part-{file:05}.parquet"


@pytest.fixture(autouse=True)
def _at_one_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages tell when they were made."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")


def mined(corpus: Path) -> tuple[MineResult, int, list[str]]:
    """The result, how many files were judged, and what else was said."""
    said: list[str] = []
    result = mine(corpus, say=said.append)
    (counts,) = (sentence for sentence in said if sentence.endswith(" known"))
    return result, int(counts.split()[0]), [sentence for sentence in said if sentence != counts]


def assert_as_at_once(corpus: Path, result: MineResult) -> None:
    """Everything that is left is, to the byte, what judging all anew leaves."""

    def left() -> dict[str, object]:
        pages = {name: (corpus / MINED / name).read_bytes() for name in ("summary.json", "report.html")}
        results = {path.name: read_found(path) for path in sorted(kept_path(corpus, 0).parent.iterdir())}
        return {**pages, **results}

    before, table = left(), result.table()
    (corpus / MINED / "report.html").unlink()
    anew = mine(corpus, again=True)
    assert anew == result
    assert anew.table().equals(table)
    assert left() == before


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_growing_shrinking_and_changing_ends_as_mining_all_at_once(tmp_path: Path, seed: int) -> None:
    draw = Random(seed)
    files = draw.sample(range(6), 6)
    changed, goes = files[0], files[1]
    for file in files[:3]:
        write(tmp_path, file, twice=file == changed)
    first, judged, _ = mined(tmp_path)
    assert (first.files, judged, first.holds) == (3, 3, False)
    write(tmp_path, changed)
    remove(tmp_path, goes)
    broken = set(draw.sample(files[3:], 2))
    for file in files[3:]:
        write(tmp_path, file, twice=file in broken)
    result, judged, _ = mined(tmp_path)
    assert (result.files, judged) == (5, 4)
    assert set(result.table().column("run").to_pylist()) == broken
    for most in (1, 3, result.violations):
        assert read_violations(reversed([*result.results()]), most).equals(result.table()[:most])
    assert_as_at_once(tmp_path, result)


@pytest.mark.slow
def test_files_that_are_known_are_not_read(tmp_path: Path) -> None:
    pair = write(tmp_path, 0, twice=True)
    before = mine(tmp_path)
    content, stat = pair.events.read_bytes(), pair.events.stat()
    footer = int.from_bytes(content[-8:-4], "little") + 8
    pair.events.write_bytes(content[:4] + bytes(len(content) - footer - 4) + content[-footer:])
    os.utime(pair.events, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    write(tmp_path, 1)
    after, judged, _ = mined(tmp_path)
    assert (after.files, judged, after.violations) == (2, 1, before.violations)
    (said,) = mine(tmp_path, again=True).left_out
    assert "part-00000.parquet: cannot be read as Parquet" in said


def of_other_checks(pair: Pair, path: Path, found: PartFindings) -> None:
    identity = msgspec.structs.replace(found.identity, checks="others")
    write_found(path, msgspec.structs.replace(found, identity=identity), read_violations([path]))


def cut_short(pair: Pair, path: Path, found: PartFindings) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def another_footer(pair: Pair, path: Path, found: PartFindings) -> None:
    """The same size, and the same time."""
    content, stat = pair.runs_file.read_bytes(), pair.runs_file.stat()
    pair.runs_file.write_bytes(content.replace(b"parquet-cpp-arrow", b"parquet-cpp-arroW"))
    os.utime(pair.runs_file, ns=(stat.st_atime_ns, stat.st_mtime_ns))


REASONS: dict[str, tuple[Callable[[Pair, Path, PartFindings], object], str]] = {
    "nothing": (lambda pair, path, found: None, ""),
    "other checks": (of_other_checks, ""),
    "the file's time": (lambda pair, path, found: os.utime(pair.events, ns=(1, 1)), ""),
    "the file's footer": (another_footer, ""),
    "a result cut short": (cut_short, "is damaged, or of another version; its files are judged again"),
    "a result of another hand": (lambda pair, path, found: path.write_text("mine"), "is damaged, or of another"),
    "no result": (lambda pair, path, found: path.unlink(), ""),
}


@pytest.mark.parametrize("reason", REASONS)
def test_a_result_counts_as_long_as_nothing_has_changed(tmp_path: Path, reason: str) -> None:
    change, sentence = REASONS[reason]
    pair, said = write(tmp_path, 0, twice=True), list[str]()
    with kept_results(tmp_path, said.append) as kept:
        identity = identity_of(tmp_path, pair)
        found = judge_and_keep(parts_of(tmp_path)[0], identity, kept.path(pair))
        assert kept.look([pair]) == {}
    change(pair, kept.path(pair), found)
    with kept_results(tmp_path, said.append) as kept:
        missing = kept.look([pair])
        assert list(missing) == ([] if reason == "nothing" else [pair])
        assert kept.found == ({pair: found} if reason == "nothing" else {})
    assert len(said) == (1 if sentence else 0)
    assert all(sentence in one for one in said)


def test_files_that_change_while_they_are_judged_do_not_count(tmp_path: Path) -> None:
    pair = write(tmp_path, 0)
    with kept_results(tmp_path, print) as kept:
        found = judge_and_keep(parts_of(tmp_path)[0], identity_of(tmp_path, pair), kept.path(pair))
        write(tmp_path, 0, twice=True)
        with pytest.raises(BadInput, match=r"part-00000\.parquet: has changed while it was judged; mine again"):
            kept.take(pair, found)
        assert list(kept.look([pair])) == [pair]


def test_no_changed_byte_of_a_result_is_taken_for_another_result(tmp_path: Path) -> None:
    write(tmp_path, 0, twice=True)
    path = tmp_path / "result.parquet"
    (part,) = parts_of(tmp_path)
    judge_and_keep(part, identity_of(tmp_path, Pair(part.events, part.runs_file)), path)
    found, table, content = read_found(path), read_violations([path]), path.read_bytes()
    assert found is not None
    assert table.num_rows == found.violations > 0
    draw, noticed = Random(1), 0
    for _ in range(300):
        at = draw.randrange(len(content))
        path.write_bytes(content[:at] + bytes([content[at] ^ 1 << draw.randrange(8)]) + content[at + 1 :])
        if read_found(path) is None:
            noticed += 1
        else:
            assert read_found(path) == found
            assert read_violations([path]).equals(table)
    assert noticed > 200


def test_what_a_killed_mining_had_judged_is_known(tmp_path: Path) -> None:
    for file in range(4):
        write(tmp_path, file, twice=file > 1)
    with kept_results(tmp_path, print) as kept:
        for file in (1, 2):
            part = parts_of(tmp_path)[file]
            pair = Pair(part.events, part.runs_file)
            judge_and_keep(part, identity_of(tmp_path, pair), kept.path(pair))
    unfinished = [kept_path(tmp_path, 3).with_name(".part-00003.parquet.x1"), tmp_path / MINED / ".summary.json.x2"]
    for path in unfinished:
        path.write_text("half of")
    result, judged, said = mined(tmp_path)
    assert (result.files, judged, said) == (4, 2, [])
    assert set(result.table().column("run").to_pylist()) == {2, 3}
    assert not any(path.exists() for path in unfinished)


def test_what_is_not_ours_is_left_alone(tmp_path: Path) -> None:
    write(tmp_path, 0)
    mine(tmp_path)
    foreign = kept_path(tmp_path, 7)
    pq.write_table(pa.table({"mine": [1]}), foreign)
    (tmp_path / MINED / "notes.txt").write_text("mine, too")
    shutil.copy(kept_path(tmp_path, 0), kept_path(tmp_path, 8))  # as of a pair that has gone
    result, _, said = mined(tmp_path)
    assert said == [f"{foreign}: is no result of mining, and is left alone"]
    assert sorted(path.name for path in foreign.parent.iterdir()) == ["part-00000.parquet", "part-00007.parquet"]
    assert (tmp_path / MINED / "notes.txt").exists()
    assert result.table().num_rows == 0


def test_a_folder_that_is_not_ours_or_is_held_is_refused_in_one_sentence(tmp_path: Path) -> None:
    write(tmp_path, 0)
    with kept_results(tmp_path, print), pytest.raises(CannotRun, match="another `mine` is at work there; wait"):
        mine(tmp_path)
    assert not (tmp_path / MINED).exists()
    (tmp_path / MINED).mkdir()
    (tmp_path / MINED / "diary.txt").write_text("dear diary")
    with pytest.raises(BadInput, match="mined: exists, and is not what `mine` makes"):
        mine(tmp_path)
    shutil.rmtree(tmp_path / MINED)
    (tmp_path / MINED).write_text("a file")
    with pytest.raises(BadInput, match="mined: exists, and is not what `mine` makes"):
        mine(tmp_path)


def test_a_run_number_twice_is_left_out(tmp_path: Path) -> None:
    write(tmp_path, 0)
    write(tmp_path, 1, run=0)
    for _ in range(2):  # its result is kept by the second time
        result = mine(tmp_path)
        (said,) = result.left_out
        assert said.startswith(f"{runs_path(tmp_path, 1)}: run 0 is in {runs_path(tmp_path, 0)}, too; give")
        assert result.runs == 1


def test_any_change_of_the_sources_is_another_version(tmp_path: Path) -> None:
    folder = tmp_path / "checks"
    (folder / "tests").mkdir(parents=True)
    seen = {digest_of([folder])}
    for name, text in (("a.py", "1"), ("a.py", "2"), ("b.toml", "2"), ("b.toml", ""), ("c.py", "")):
        (folder / name).write_text(text)
        seen.add(digest_of([folder]))
    (folder / "a.py").rename(folder / "d.py")
    seen.add(digest_of([folder]))
    assert len(seen) == 7
    (folder / "tests" / "test_a.py").write_text("3")
    (folder / "a.md").write_text("4")
    assert digest_of([folder]) in seen
