"""The environments of `benchmarks.oddities`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

_RUN = 'exec "$@"'
_NOWHERE = "http://127.0.0.1:9"
_NO_NETWORK = 'exec unshare --net --map-root-user "$@"'
_READ_ONLY = (
    'exec unshare --mount sh -c \'mount -t tmpfs -o ro tmpfs "{FOLDER}" && exec "$@"\' sh "$@"'
)


@dataclass(frozen=True, slots=True)
class Oddity:
    """An environment and the command that is tried in it.

    `variables` are set and those in `without` removed; `shell` starts the command ("$@"). Braces
    name FOLDER (empty, the working folder), ROOT, and SILENT (a server that accepts and never
    answers). `codes`: exit codes that are right here beside 0, 1 and 2; `says`: how a line of
    standard error may begin that is not the command's.
    """

    name: str
    command: str = "verify"
    variables: Mapping[str, str] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    shell: str = _RUN
    codes: tuple[int, ...] = ()
    says: str = "benchmint: "


def _with(name: str, value: str, command: str = "verify", about: str = "") -> Oddity:
    return Oddity(f"{name}={about or value or '(empty)'}", command, {name: value})


ODDITIES = (
    _with("LC_ALL", "C"),
    _with("LC_ALL", "POSIX", "sql"),
    _with("LC_ALL", "ja_JP.SJIS"),
    _with("LANG", "tr_TR.ISO-8859-9", "dry run"),
    _with("PYTHONIOENCODING", "ascii", "sql"),
    Oddity("a locale of one byte", "demo", {"PYTHONUTF8": "0", "LC_ALL": "en_US.ISO-8859-1"}),
    Oddity("a build in the locale C", "build", {"PYTHONUTF8": "0", "LC_ALL": "C"}),
    _with("PYTHONOPTIMIZE", "2"),
    _with("PYTHONDEVMODE", "1", "sql"),
    _with("PYTHONHASHSEED", "random", "sql"),
    _with("TZ", "Asia/Kathmandu", "releases"),
    _with("TZ", "Nowhere/None", "releases"),
    _with("COLUMNS", "1", "releases"),
    _with("COLUMNS", "wide", "help"),
    _with("TERM", "dumb", "help"),
    Oddity("no TERM", "releases", without=("TERM",)),
    Oddity("colour forced and forbidden", "help", {"NO_COLOR": "1", "FORCE_COLOR": "1"}),
    Oddity("no HOME", "build", without=("HOME",)),
    _with("HOME", "/nonexistent", "dry run"),
    _with("HOME", "", "sql"),
    _with("TMPDIR", "/nonexistent"),
    _with("TMPDIR", "/nonexistent", "build"),
    _with("TMPDIR", "{ROOT}/signer.pub", "dry run", "a file"),
    _with("PATH", "", "verify"),
    _with("PATH", "", "build"),
    Oddity("the working folder is gone", "verify", shell='rmdir "{FOLDER}"; exec "$@"'),
    Oddity("the working folder is gone: build", "dry run", shell='rmdir "{FOLDER}"; exec "$@"'),
    Oddity("a foreign package `data`", shell='mkdir data; echo x > data/__init__.py; exec "$@"'),
    Oddity("a broken prefect.toml", "build", shell='echo "[[" > prefect.toml; exec "$@"'),
    Oddity("a broken benchmint.toml", "releases", shell='echo "[[" > benchmint.toml; exec "$@"'),
    Oddity(
        "a broken sitecustomize",
        "verify",
        {"PYTHONPATH": "{FOLDER}"},
        shell='echo "import none_such" > sitecustomize.py; exec "$@"',
        says="",
    ),
    Oddity("standard input closed", "sql", shell='exec "$@" <&-'),
    Oddity("standard output closed", "sql", shell='exec "$@" >&-'),
    Oddity("standard error closed", "verify", shell='exec "$@" 2>&-'),
    Oddity("a full standard output", "sql", shell='exec "$@" >/dev/full'),
    Oddity("a reader that leaves", "sql", shell='"$@" | true', codes=(141,)),
    Oddity("few open files", "verify", shell='ulimit -n 24; exec "$@"'),
    Oddity("few open files: build", "build", shell='ulimit -n 40; exec "$@"'),
    Oddity("little address space", "verify", shell='ulimit -v 900000; exec "$@"'),
    Oddity("no file may grow", "demo", shell='ulimit -f 0; exec "$@"'),
    Oddity("umask 000", "build", shell='umask 000; exec "$@"'),
    Oddity("umask 777", "demo", shell='umask 777; exec "$@"'),
    Oddity(
        "a dead proxy",
        "build",
        {
            "HTTP_PROXY": _NOWHERE,
            "HTTPS_PROXY": _NOWHERE,
            "ALL_PROXY": _NOWHERE,
            "http_proxy": _NOWHERE,
        },
    ),
    Oddity("certificates that are not there", "build", {"SSL_CERT_FILE": "/nonexistent"}),
    Oddity("a Prefect server that is not there", "build", {"PREFECT_API_URL": _NOWHERE + "/api"}),
    Oddity("a half-open connection", "build", {"PREFECT_API_URL": "{SILENT}"}),
    Oddity("no loopback", "build", shell=_NO_NETWORK),
    Oddity("no loopback: verify", "verify", shell=_NO_NETWORK),
    Oddity("a read-only disk", "build", shell=_READ_ONLY),
    Oddity("a read-only disk: demo", "demo", shell=_READ_ONLY),
    _with("POLARS_MAX_THREADS", "0", "sql"),
    _with("POLARS_MAX_THREADS", "many", "verify"),
    _with("OMP_NUM_THREADS", "none", "build"),
    _with("BENCHMINT_NO_SUCH", "1", "dry run"),
    _with("BENCHMINT_RELEASE__SEED", "seven", "dry run"),
)
