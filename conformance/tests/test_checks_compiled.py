"""What is compiled is compiled once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from scatterproof.spec.files import IMPORTED_FROM

FIRST_USE = """
from random import Random
import numpy as np
from scatterproof.conformance.checks.compiled import Kernel
from scatterproof.conformance.protocol import load
from scatterproof.conformance.tests.test_extremes import hostile
from scatterproof.spec.clauses import protocols
plugin = load(protocols()[0])
kernel = Kernel(plugin.checks[:2], plugin.columns)
run = kernel.run({**plugin.surroundings(hostile(plugin.name, Random(1)).header), "applies": 1})
run.feed({name: np.zeros(1, dtype=np.int64) for name in kernel.columns})
print(sum(sum(part.module.judge.stats.cache_misses.values()) for part in kernel.parts))
"""


@pytest.mark.slow
def test_of_two_processes_that_need_it_at_once_one_compiles(tmp_path: Path) -> None:
    both = [
        subprocess.Popen(
            [sys.executable, "-c", FIRST_USE],
            env={**os.environ, "SCATTERPROOF_CACHE": str(tmp_path / "cache")},
            cwd=IMPORTED_FROM,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    assert sorted(process.communicate()[0].strip() for process in both) == ["0", "1"]
