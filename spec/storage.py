"""Addresses of storage that all nodes of a cluster reach, `s3://BUCKET/...` and `hdfs://HOST:PORT/...`, as paths: the
same code takes a folder of this machine, or an address, through `pyarrow.fs`.

What is written appears whole or not at all. An object of S3 does so by itself; elsewhere a file is written under a name
that begins with a dot, and moved. Nothing else is promised there: folders are not moved, and there are no locks.
"""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path, PosixPath
from typing import TYPE_CHECKING, Any

from scatterproof.spec.errors import BadInput, CannotRun

if TYPE_CHECKING:  # not everybody who reads files has it, and it takes long to load
    import pyarrow as pa
    from pyarrow.fs import FileInfo, FileSystem

SCHEMES = ("s3", "hdfs")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
_CONNECT_WITHIN_S, _ANSWER_WITHIN_S = 10, 60
_REASON_CHARACTERS = 300


class Remote(PosixPath):
    """An address, for whoever takes a Path to read files and look into folders; what writes knows of addresses.

    Its methods raise FileNotFoundError where there is no such file, and CannotRun where the storage does not do what it
    is asked.
    """

    def __str__(self) -> str:
        scheme, *rest = self.parts
        return f"{scheme}//{'/'.join(rest)}"

    def __fspath__(self) -> str:
        raise TypeError(f"{self} is no path here")  # rather than that a folder "s3:" is made

    def absolute(self) -> Remote:
        return self

    def resolve(self, strict: bool = False) -> Remote:
        return self

    def exists(self) -> bool:
        return bool(self._info().type)

    def is_dir(self) -> bool:
        info = self._info()
        return bool(info.type) and not info.is_file

    def is_file(self) -> bool:
        return bool(self._info().is_file)

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        """Its size and time (whole seconds in S3); all else is 0."""
        info = self._info()
        if not info.type:
            raise FileNotFoundError(f"{self}: no such file")
        changed = info.mtime_ns or 0
        return os.stat_result((0, 0, 0, 0, 0, 0, info.size or 0, 0, changed // 10**9, 0), {"st_mtime_ns": changed})

    def glob(self, pattern: str) -> Generator[Remote, None, None]:
        """What is right in this folder and has such a name; nothing where there is no folder."""
        return (path for path in self.iterdir() if fnmatchcase(path.name, pattern))

    def iterdir(self) -> Generator[Remote, None, None]:
        from pyarrow.fs import FileSelector

        filesystem, place = self._at()
        with self._asked():
            found = filesystem.get_file_info(FileSelector(place, allow_not_found=True))
        return (self / info.base_name for info in found)

    def open(self, mode: str = "rb", *_: Any, **__: Any) -> Any:
        """The file, to read from any place in it."""
        assert mode == "rb"
        filesystem, place = self._at()
        with self._asked():
            return filesystem.open_input_file(place)

    def read_bytes(self) -> bytes:
        with self.open() as file, self._asked():
            return bytes(file.read())

    def write_whole(self, content: bytes | pa.Buffer) -> None:
        """Put the content there. Who reads meanwhile finds what was there, or in HDFS nothing for a moment."""
        filesystem, place = self._at()
        at_once = filesystem.type_name == "s3"
        written = place if at_once else f"{place.rpartition('/')[0]}/.{self.name}.{os.urandom(8).hex()}"
        with self._asked():
            if not at_once:
                filesystem.create_dir(place.rpartition("/")[0])
            stream = filesystem.open_output_stream(written)
            # Not as a context: an error would end it as if all had been written.
            stream.write(content)
            stream.close()
            if not at_once:
                if self.exists():
                    filesystem.delete_file(place)
                filesystem.move(written, place)

    def unlink(self, missing_ok: bool = False) -> None:
        filesystem, place = self._at()
        try:
            with self._asked():
                filesystem.delete_file(place)
        except FileNotFoundError:
            if not missing_ok:
                raise

    def remove(self) -> None:
        """The file, or the folder with all that is in it, if there is one."""
        filesystem, place = self._at()
        with suppress(FileNotFoundError), self._asked():
            info = self._info()
            if info.is_file:
                filesystem.delete_file(place)
            elif info.type:
                filesystem.delete_dir(place)

    def _at(self) -> tuple[FileSystem, str]:
        scheme, authority, *rest = self.parts
        filesystem, root = _connected(scheme, authority)
        return filesystem, "/".join([root, *rest])

    def _info(self) -> FileInfo:
        filesystem, place = self._at()
        with self._asked():
            return filesystem.get_file_info(place)

    @contextmanager
    def _asked(self) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError:
            raise
        except OSError as error:
            raise CannotRun(f"{self}: {_reason(error)}") from None


def place_of(path: Path | str) -> Path:
    """What a user means by this path: an address, which `Path` has read as a path with one slash less; file:// and all
    else is a path here. BadInput for an address that nobody can open."""
    path = path if isinstance(path, Path) else Path(path)
    scheme, *rest = path.parts or ("",)
    if isinstance(path, Remote) or not _SCHEME.fullmatch(scheme) or Path(scheme).exists():
        return path
    if scheme == "file:":
        return Path("/", *rest)
    if scheme[:-1] not in SCHEMES:
        raise BadInput(
            f"{scheme}//{'/'.join(rest)}: is an address of a kind that is not read or written; give"
            f" {', '.join(f'{known}://...' for known in SCHEMES)}, or the path of a folder that is mounted here, and on"
            " all machines of a cluster"
        )
    if not rest:
        raise BadInput(f"{scheme}//: names nothing; give s3://BUCKET/NAME or hdfs://HOST:PORT/NAME")
    return Remote(*path.parts)


def reached(path: Path | str) -> Path:
    """As `place_of`; CannotRun unless the storage answers. To be asked ahead of all that takes long."""
    place = place_of(path)
    if isinstance(place, Remote):
        place.exists()
    return place


def opened(place: Path) -> Any:
    """What Arrow takes to read the file there."""
    return place.open() if isinstance(place, Remote) else place


@contextmanager
def written_to(folder: Path) -> Iterator[Path]:
    """A folder of this machine for files that must come into `folder`: itself, or a scratch one, whose files are put
    there when all has gone well."""
    if not isinstance(folder, Remote):
        yield folder
        return
    import tempfile

    import pyarrow as pa

    with tempfile.TemporaryDirectory(prefix="scatterproof-upload-") as scratch:
        yield Path(scratch)
        for path in sorted(path for path in Path(scratch).rglob("*") if path.is_file()):
            with pa.memory_map(str(path)) as file:
                (folder / path.relative_to(scratch)).write_whole(file.read_buffer())


@cache  # once in a process
def _connected(scheme: str, authority: str) -> tuple[FileSystem, str]:
    """The file system, and what its names of files begin with."""
    from pyarrow.fs import FileSystem, S3FileSystem, resolve_s3_region

    try:
        if scheme != "s3:":
            filesystem, root = FileSystem.from_uri(f"{scheme}//{authority}/")
            return filesystem, root.rstrip("/")
        endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
        region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
        filesystem = S3FileSystem(
            endpoint_override=endpoint,
            region=region or ("us-east-1" if endpoint else resolve_s3_region(authority)),
            connect_timeout=_CONNECT_WITHIN_S,
            request_timeout=_ANSWER_WITHIN_S,
        )
    except (OSError, ValueError) as error:
        raise CannotRun(f"{scheme}//{authority}: {_reason(error)}") from None
    return filesystem, authority


def _reason(error: Exception) -> str:
    said = str(error).strip().partition("\n")[0][:_REASON_CHARACTERS]
    return f"the storage says: {said}; check the address, its settings and who may use it (spark/README.md)"
