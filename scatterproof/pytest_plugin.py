"""The conformance suite as tests of pytest: `pytest --scatterproof-iut=stdio:./my-node`, without a test file.

Every pytest of an environment in which Scatterproof is installed reads this module: it imports nothing of ours until
somebody asks for the suite. What the suite then does is in `pytest_suite.py`.
"""

from __future__ import annotations

import pytest

from scatterproof.pytest_names import PREFIX

_OPTIONS = {
    "iut": "Implementation under test, as for `scatterproof conform --iut`: its cases become tests.",
    "profile": "What the implementation claims (TOML); all when left out.",
    "protocol": "The protocol; the profile's, or the first that `scatterproof doctor` lists, when left out.",
    "results": "Folder for schedules, traces and what nodes write (results).",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("scatterproof", "conformance of an implementation of ordered messaging")
    for name, text in _OPTIONS.items():
        group.addoption(f"--scatterproof-{name}", default=None, metavar=name.upper(), help=text)
    group.addoption(
        "--scatterproof-case",
        action="append",
        default=[],
        metavar="CASE",
        help="Only this case, or these: an id, a clause, an address, or with * and ?.",
    )
    group.addoption(
        "--scatterproof-strict",
        action="store_true",
        help="What only SHOULD be kept fails, too; else it is an expected failure.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Have the suite collected when an implementation is named; `scatterproof::CLAUSE::case` among the arguments picks
    cases of it, as a file picks its tests."""
    # Not there where pytest was only asked for its help.
    arguments: list[str] = getattr(config, "args", [])
    picked = [argument for argument in arguments if argument.startswith(PREFIX)]
    if config.getoption("--scatterproof-iut") is None:
        given = [name for name in (*_OPTIONS, "case", "strict") if config.getoption(f"--scatterproof-{name}")]
        if given or picked:
            what = f"--scatterproof-{given[0]}" if given else picked[0]
            raise pytest.UsageError(f"{what} goes with an implementation; add --scatterproof-iut")
        return
    if picked:
        config.args = [argument for argument in arguments if argument not in picked]

    from scatterproof.pytest_suite import suite_of

    config.pluginmanager.register(suite_of(config, picked), "scatterproof-suite")
