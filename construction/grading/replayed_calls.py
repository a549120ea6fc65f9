"""Are the answers of the data tools in an attempt those that the tools give?

The tools of a release are deterministic: whoever has its tables can repeat every call. An attempt
that shows another answer was not made with these tools, or was changed afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from construction.statements.tools.agent_tools import BY_NAME, answer
from construction.statements.tools.database import Database
from data.attempts import AttemptRecord
from data.contracts.attempt import Call

_CUT = "… (+"  # how a recorded output ends that was too long to keep


def altered_calls(
    records: Sequence[AttemptRecord], database: Database | None
) -> Iterator[tuple[AttemptRecord, Call]]:
    """Calls of data tools whose recorded answer is not the tool's; none without tables.

    Calls that failed or were cut off are not compared.
    """
    for record in records if database is not None else ():
        assert database is not None
        for call in record.submission.calls:
            if call.name in BY_NAME and not call.is_error and _CUT not in call.output[-40:]:
                given = {name: value for name, value in call.arguments.items() if value is not None}
                if answer(database, call.name, given).text != call.output:
                    yield record, call
