"""The registry of all gates, in the order in which they decide.

The gates of the sessions lane that need settings of their own stand in `SessionsConfig`; here the
wings meet.
"""

from __future__ import annotations

from anonymization.documents.contracts import GATE as MASKING
from anonymization.leaks.contracts import GATE as LEAKS
from anonymization.masking_gates import INSTRUCTION, LANGUAGE
from anonymization.tables.gates import FIDELITY as FIDELITY
from anonymization.tables.gates import RE_IDENTIFICATION as RE_IDENTIFICATION
from construction.analytics.fairness import FAIR
from construction.grading.gate import GATE as GRADER
from construction.grading.sandbox_preflight import GATE as SANDBOX
from construction.judging.baseline.screen import GATE as SELF_CONTAINMENT
from construction.sessions.config import LOCAL_GATES, NETWORK_GATES
from construction.workflows.screening import PILOT, SCREEN
from selection.pilots import GATE as INFORMATIVE

SESSION_GATES = (
    *LOCAL_GATES,
    *NETWORK_GATES,
    MASKING,
    LANGUAGE,
    SELF_CONTAINMENT,
    INSTRUCTION,
    LEAKS,
)
TABLE_GATES = (FIDELITY, RE_IDENTIFICATION)
_ANALYTIC_GATES = (FAIR,)
_WORKFLOW_GATES = (SCREEN, PILOT)
_POOL_GATES = (GRADER, INFORMATIVE, SANDBOX)  # for the candidates of all lanes
GATES = (*SESSION_GATES, *TABLE_GATES, *_ANALYTIC_GATES, *_WORKFLOW_GATES, *_POOL_GATES)
# Of the gates that judge instances and candidates; tables have no place in their funnel.
GATE_ORDER = tuple(gate.name for gate in GATES if gate not in TABLE_GATES)
