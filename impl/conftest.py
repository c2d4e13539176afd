"""Tests on the real switch are not run where BMv2 is missing, and that is said."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from scatterproof.impl.bmv2 import Bmv2Switch
from scatterproof.impl.bmv2.session import why_not

Open = Callable[..., Bmv2Switch]


@pytest.fixture
def bmv2() -> Iterator[Open]:
    """Opens switches; all are closed in the end."""
    with ExitStack() as opened:

        def start(program: Path, **options: int) -> Bmv2Switch:
            return opened.enter_context(Bmv2Switch(program, **{"ports": 4, **options}))  # type: ignore[arg-type]

        yield start


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    real = [item for item in items if "bmv2" in getattr(item, "fixturenames", ())]
    reason = why_not() if real else None
    if reason is not None:
        items[:] = [item for item in items if item not in real]
        config.hook.pytest_deselected(items=real)
        warnings.warn(pytest.PytestWarning(f"not run: {len(real)} tests on BMv2: {reason}"), stacklevel=1)
