"""Prints pip's settings as environment variables for uv, which does not read them itself.

Used by `ci/setup`: uv installs the lock three times as quickly as pip does, from the index that the user set for pip.
One `NAME=VALUE` a line, shell-quoted. Settings of uv that the user made stay as they are.
"""

from __future__ import annotations

import ast
import os
import shlex
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

# pip's option, uv's variable, what stands between several values.
SETTINGS = (
    ("index-url", "UV_DEFAULT_INDEX", " "),
    ("extra-index-url", "UV_INDEX", " "),
    ("find-links", "UV_FIND_LINKS", ","),
    ("no-index", "UV_NO_INDEX", " "),
    ("trusted-host", "UV_INSECURE_HOST", " "),
    ("cert", "SSL_CERT_FILE", " "),
    ("client-cert", "SSL_CLIENT_CERT", " "),
    ("proxy", "ALL_PROXY", " "),
)


def pip_settings(listing: str) -> dict[str, str]:
    """Options in the output of `pip config list`: the environment goes before `install`, that before `global`."""
    settings: dict[str, str] = {}
    for section in ("global.", "install.", ":env:."):
        for line in listing.splitlines():
            name, equals, value = line.partition("=")
            if equals and name.startswith(section):
                settings[name.removeprefix(section)] = str(ast.literal_eval(value))
    return settings


def uv_environment(settings: dict[str, str]) -> dict[str, str]:
    """uv's variables for pip's settings. A local index that does not exist is left out, as pip passes it over."""
    environment = {}
    for option, variable, separator in SETTINGS:
        values = [value for value in settings.get(option, "").split() if not _missing(value)]
        if values:
            environment[variable] = separator.join(values)
    # pip takes the best match over all indexes; with locked hashes that is as safe as taking the first.
    environment["UV_INDEX_STRATEGY"] = "unsafe-best-match"
    return environment


def _missing(value: str) -> bool:
    place = urlsplit(value)
    return place.scheme == "file" and not Path(unquote(place.path)).exists()


def main() -> None:
    command = [sys.executable, "-m", "pip", "config", "list"]
    listing = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    for variable, value in uv_environment(pip_settings(listing)).items():
        if variable not in os.environ:
            print(f"{variable}={shlex.quote(value)}")


if __name__ == "__main__":
    main()
