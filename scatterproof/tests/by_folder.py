"""Plugin of this project's own tests: `pytest spec/tests` is taken as `pytest scatterproof/spec/tests`. A module of
`spec` that was read under the folder's name would be another one than that of `scatterproof.spec`."""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path

import pytest

from scatterproof.spec.plugins import PACKAGES


def linked(argument: str, root: Path, here: Path) -> str:
    """The argument, with its path by way of the links in `scatterproof`."""
    path, *names = argument.split("::")
    whole = Path(os.path.normpath(here / path))
    if not (whole.exists() and whole.is_relative_to(root) and whole.relative_to(root).parts[:1]):
        return argument
    first, *rest = whole.relative_to(root).parts
    if first not in PACKAGES:
        return argument
    return "::".join([os.path.relpath(root.joinpath("scatterproof", first, *rest), here), *names])


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config, args: list[str]) -> Generator[None, None, None]:
    """Before pytest looks for the conftest.py of any argument."""
    root, here = early_config.rootpath, early_config.invocation_params.dir
    given: list[str] = early_config.known_args_namespace.file_or_dir
    paths = given or [str(here)]
    taken = [linked(path, root, here) for path in paths]
    for old, new in zip(paths, taken, strict=True):
        if old == new:
            continue
        if given:  # as the last of its name: an option before it may have a value like it
            args[len(args) - 1 - args[::-1].index(old)] = new
        else:
            args.append(new)
    if taken != paths:
        early_config.known_args_namespace.file_or_dir[:] = taken
    return (yield)
