"""The commands of docs/queue.md do what the page says."""

from __future__ import annotations

import re
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from scatterproof.impl.workqueue.stores.tests.cluster import cluster, why_not

PAGE = Path(__file__).resolve().parents[4] / "docs" / "queue.md"
ADDRESS = "postgresql://queue@db/queue"


@pytest.mark.slow
def test_every_command_of_the_page_ends_well(tmp_path: Path) -> None:
    lines = [line for block in re.findall(r"```sh\n(.*?)```", PAGE.read_text(), re.S) for line in block.splitlines()]
    assert len(lines) >= 12
    with ExitStack() as opened:
        if why_not() is None:
            address = opened.enter_context(cluster()).queue()
            lines = [line.replace(ADDRESS, f"'{address}'") for line in lines]
        else:
            lines = [line for line in lines if ADDRESS not in line]
        head = f'scatterproof() {{ {sys.executable} -m scatterproof.cli "$@"; }}'
        script = "\n".join(["set -e", head, *lines])
        done = subprocess.run(["sh", "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    # What the messages are processed to, and the reason of the one that was set aside.
    assert all(word in done.stdout for word in ("first", "second", "urgent", "third", "given up"))
