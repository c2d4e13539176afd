"""What is compiled and committed is what the sources give."""

from __future__ import annotations

import hashlib
import shutil

import msgspec
import pytest

from ci import p4_compile
from scatterproof.impl.totalorder.p4.builds import (
    BUILDS,
    COMPILED,
    MANIFEST,
    BuildManifest,
    compiled,
    edited,
    edits_of,
    file_name,
    p4info,
)


@pytest.fixture(scope="module")
def manifest() -> BuildManifest:
    return msgspec.json.decode((COMPILED / MANIFEST).read_bytes(), type=BuildManifest)


def test_the_manifest_tells_of_the_sources_as_they_are(manifest: BuildManifest) -> None:
    assert manifest.sources == p4_compile.sources(), "a source has changed: run ci/p4-compile where p4c is on PATH"


def test_the_manifest_tells_of_every_build_as_it_is(manifest: BuildManifest) -> None:
    builds = {f"{build.name}_{size}": (build, size) for build in BUILDS for size in build.sizes}
    assert manifest.builds.keys() == builds.keys()
    for name, (build, size) in builds.items():
        assert manifest.builds[name].flags == p4_compile.flags(build, size)
        assert manifest.builds[name].sha256 == hashlib.sha256(compiled(build.name, size)).hexdigest(), name
        assert p4info(build.name, size).is_file()


def test_nothing_else_is_in_the_folder(manifest: BuildManifest) -> None:
    known = {file_name(build, size) for build in BUILDS for size in build.sizes}
    assert {path.name for path in COMPILED.iterdir()} == known | manifest.p4info.keys() | {MANIFEST}
    for name, digest in manifest.p4info.items():
        assert hashlib.sha256((COMPILED / name).read_bytes()).hexdigest() == digest


def test_no_two_builds_are_the_same_program(manifest: BuildManifest) -> None:
    hashes = [told.sha256 for told in manifest.builds.values()]
    assert len(set(hashes)) == len(hashes)


def test_compiled_programs_name_no_place_of_a_machine() -> None:
    for build in BUILDS:
        text = compiled(build.name, build.sizes[0])
        assert b"source_info" not in text
        assert b'"program": "switch.p4"' in text


def test_edits_make_one_text_of_another() -> None:
    one, other = b"a\nb\nc\nd\n", b"a\nx\ny\nc\n"
    assert edited(one, edits_of(one, other)) == other
    assert edited(other, edits_of(other, one)) == one
    assert edits_of(one, one) == []


def test_compiling_anew_gives_what_is_there_or_says_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    code = p4_compile.main(["--check", "default"])
    told = capsys.readouterr()
    if shutil.which(p4_compile.COMPILER) is None:
        assert code == 3
        assert "p4c-bm2-ss is not on PATH; install p4c" in told.err
    else:
        assert (code, told.out) == (0, "")
