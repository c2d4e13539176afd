"""A server of S3 on loopback, moto's, in a thread of the tests; only where that is installed."""

from __future__ import annotations

import importlib
import importlib.util
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import pytest
from pyarrow.fs import S3FileSystem

from scatterproof.spec.storage import place_of

STORAGES = ["folder", "s3"]
if importlib.util.find_spec("moto") is None or importlib.util.find_spec("flask") is None:
    STORAGES = ["folder"]
    said = "not run: corpora on S3: moto's server is not installed; install moto[s3,server] of PyPI here"
    warnings.warn(pytest.PytestWarning(said), stacklevel=1)


@contextmanager
def storage(kind: str, folder: Path) -> Iterator[tuple[Path, dict[str, str]]]:
    """A place of this kind that is there and empty, and what processes must have in their environment to use it; this
    one has it meanwhile."""
    if kind == "folder":
        yield folder, {}
        return
    server = importlib.import_module("moto.server").ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        address, port = server.get_host_and_port()
        settings = {
            "AWS_ENDPOINT_URL": f"http://{address}:{port}",
            "AWS_ACCESS_KEY_ID": "anybody",
            "AWS_SECRET_ACCESS_KEY": "anything",
        }
        with patch.dict(os.environ, settings):
            endpoint, bucket = settings["AWS_ENDPOINT_URL"], f"shelf-{port}"  # each its own: the connection is kept
            S3FileSystem(endpoint_override=endpoint, region="us-east-1", allow_bucket_creation=True).create_dir(bucket)
            yield place_of(f"s3://{bucket}/{folder.name}"), settings
    finally:
        server.stop()
