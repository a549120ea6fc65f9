"""Passwords among the arguments of commands, however weak they look."""

from __future__ import annotations

import time

import pytest

from anonymization.text.secrets.find_secrets import find_secrets


def secrets_of(text: str) -> list[str]:
    return [text[finding.start : finding.end] for finding in find_secrets(text)]


@pytest.mark.parametrize(
    ("command", "secrets"),
    [
        ("mysql -u shop -pTangoBlue shop < dump.sql", ["TangoBlue"]),
        ("mysqldump -ushop -p'tango blue' shop", ["tango blue"]),
        ("Then `mysql -uroot -pqWe db` and wait.", ["qWe"]),
        ("mysql --user=shop --password=harbour", ["harbour"]),
        ("curl -u reporter:winterday https://r.example", ["winterday"]),
        ('curl -s --user "reporter:winter day" https://r.example', ["winter day"]),
        ("curl -u 8Hd72kSlw92Kd8sLw1: https://r.example", ["8Hd72kSlw92Kd8sLw1"]),
        ("sshpass -p lantern ssh -p 22022 a@b.example", ["lantern"]),
        ("redis-cli -h cache -a riverbed ping", ["riverbed"]),
        ("smbclient //nas/share -U 'joe%lantern'", ["lantern"]),
        ("lftp -u joe,lantern ftp.r.example", ["lantern"]),
        ("docker login -u ann -p harbourside r.example", ["harbourside"]),
        ("unzip -P swordfish a.zip", ["swordfish"]),
        ("tool --username ann \\\n  --password harbour", ["harbour"]),
    ],
)
def test_each_way_to_give_a_command_its_password(command: str, secrets: list[str]) -> None:
    assert secrets_of(command) == secrets


@pytest.mark.parametrize(
    "command",
    [
        "mysql -u shop -p shop",  # it asks for the password
        'mysql -u shop -p"$DB_PASSWORD" shop',
        "mysql -P 3306 --protocol tcp",
        "curl -u $WHO:$PASSWORD https://r.example",
        "curl -u user:password https://r.example",
        "curl -u bob: https://r.example",
        "docker login -u ann --password-stdin r.example",
        "docker run --user 1000:1000 -p 8080:80 web",
        "mkdir -p folder && ssh -p 2222 host",
        "tool --user ann --passphrase-file /etc/pass",
    ],
)
def test_what_gives_no_password_stays(command: str) -> None:
    assert secrets_of(command) == []


@pytest.mark.parametrize("piece", ["curl -u ", "mysql -p", "curl -u 'a", "sshpass \\\n"])
def test_hostile_commands_take_linear_time(piece: str) -> None:
    start = time.process_time()
    find_secrets(piece * (200_000 // len(piece)))
    assert time.process_time() - start < 3
