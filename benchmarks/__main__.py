"""The benchmarks, or those named, one after another, each in a process of its own.

    python -m benchmarks            all but those of `APART`
    python -m benchmarks lane kill_points

Some need a folder or a file and run alone:

    python -m benchmarks.blind_plants FOLDER
    python -m benchmarks.words_review FOLDER
    python -m benchmarks.reading_packets WORKSPACE OUT
    python -m benchmarks.evaluation SNAPSHOT
    python -m benchmarks.analytics_reading SNAPSHOT OUT
    python -m benchmarks.workflow_release SIGNALS.csv
    python -m benchmarks.repositories FOLDER…
    python -m benchmarks.finretrieval_verdicts FOLDER
"""

from __future__ import annotations

import subprocess
import sys

BENCHMARKS = (
    "lane",
    "llm_client",
    "signals",
    "staging",
    "selection_quality",
    "solver",
    "boards",
    "published_figures",
    "linking",
    "sampler",
    "sec_read",
    "question_floor",
    "questions",
    "analytics",
    "workflows",
    "grading",
    "services",
    "graded_answers",
    "answer_words",
    "real_requests",
    "question_reading",
    "analytics_people",
    "session_reading",
    "anonymization_settings",
    "anonymization_text",
    "anonymization_secrets",
    "anonymization_secrets_negatives",
    "anonymization_tables",
    "anonymization_attacker",
    "anonymization_attacks",
    "restoring",
    "anonymization_other_bars",
    "judging_replay",
    "near_duplicates",
    "house",
)
APART = (
    "answer_cases",
    "selection_regimes",
    "anonymization_large",
    "anonymization_secrets_peer",
    "audit_page",
    "bars",
    "cluster_build",
    "evidence_views",
    "forgeries",
    "fuzz",
    "growth",
    "kill_points",
    "kill_seams",
    "kills",
    "labelled_recovery",
    "oddities",
    "judge_injections",
    "large_build",
    "leaderboard_page",
    "mutation",
    "named_inputs",
    "pages",
    "question_sheets",
    "repositories",
    "session_formats",
    "startup",
    "tutorial_pictures",
)  # need a browser, other rights or a release, or long


def main(names: list[str]) -> int:
    """Run them; 1 if any failed, 2 for an unknown name."""
    unknown = sorted(set(names) - {*BENCHMARKS, *APART})
    if unknown:
        print(f"no benchmark {', '.join(unknown)}; there are {', '.join((*BENCHMARKS, *APART))}")
        return 2
    failed = [name for name in names or BENCHMARKS if not _passes(name)]
    print(f"failed: {', '.join(failed)}" if failed else "all written to benchmarks/results")
    return 1 if failed else 0


def _passes(name: str) -> bool:
    print(f"== {name}", flush=True)
    done = subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=False)
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
