"""A real S3 server on the loopback: moto's, in a process of its own."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import fsspec


@contextmanager
def s3_server(log: Path = Path(os.devnull)) -> Iterator[str]:
    """moto's server in a process of its own; its address. `log` gets a line for each request."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with log.open("ab") as lines:
        process = subprocess.Popen(
            [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
            stdout=subprocess.DEVNULL,
            stderr=lines,
        )
    try:
        for _ in range(600):
            with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


@contextmanager
def s3_bucket(name: str, log: Path = Path(os.devnull)) -> Iterator[tuple[str, dict[str, str]]]:
    """The address of a new bucket of a new server, and the environment of those who use it."""
    with s3_server(log) as url:
        secret = {"key": "invented", "secret": "invented"}
        region = {"region_name": "eu-west-1"}
        system = fsspec.filesystem(
            "s3", skip_instance_cache=True, endpoint_url=url, client_kwargs=region, **secret
        )
        system.mkdir(name)
        yield (
            f"s3://{name}",
            {
                "AWS_ENDPOINT_URL": url,
                "AWS_ACCESS_KEY_ID": secret["key"],
                "AWS_SECRET_ACCESS_KEY": secret["secret"],
                "AWS_DEFAULT_REGION": region["region_name"],
            },
        )
