"""Commands given to a tree from which something is left out: `python leaving_out.py < LIST`, in the tree.

LIST is JSON: for each try, files by path with other contents (null: the file, or folder, is gone), and the words of a
command. Each is given in a process of its own, forked from one that has imported the console: imports take the time.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path

CRASHED = 70


def said(words: Sequence[str]) -> tuple[int, str]:
    """The command's exit code and output."""
    from scatterproof.app import app

    with tempfile.TemporaryFile("w+b") as output:
        child = os.fork()
        if child == 0:
            code: object = CRASHED
            os.dup2(output.fileno(), 1)
            os.dup2(output.fileno(), 2)
            try:
                app(list(words))
            except SystemExit as end:
                code = end.code
            finally:
                if code == CRASHED:
                    traceback.print_exc()
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code if isinstance(code, int) else 0)
        _, status = os.waitpid(child, 0)
        output.seek(0)
        return os.waitstatus_to_exitcode(status), output.read().decode()


def without(files: Mapping[str, str | None], words: Sequence[str]) -> tuple[int, str]:
    """The same, in a tree that is put right again."""
    with tempfile.TemporaryDirectory() as kept:
        for number, (name, content) in enumerate(files.items()):
            shutil.move(name, f"{kept}/{number}")
            if content is not None:
                Path(name).write_text(content, encoding="utf-8")
        try:
            return said(words)
        finally:
            for number, name in enumerate(files):
                if Path(name).is_dir():
                    shutil.rmtree(name)
                shutil.move(f"{kept}/{number}", name)


if __name__ == "__main__":
    # Contents change within a second, which compiled files do not notice.
    sys.dont_write_bytecode = True
    import scatterproof.commands.protocols
    import scatterproof.commands.verify  # noqa: F401

    json.dump([without(files, words) for files, words in json.load(sys.stdin)], sys.stdout)
