"""Maps the patterns and families of the Claw-Eval-Live authors to ours, for a comparison.

The mapping was made from the labels of the patterns alone, by their subjects. A pattern of theirs
that covers several of ours is compared with their sum; families that we divide differently are
summed.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from scipy.stats import kendalltau, spearmanr

# Their family -> ours. "Non-Benchmark" (agents' own matters and uncategorized) is left out.
FAMILIES = {
    "Workflow-Orchestration": "orchestration",
    "Shell-Filesystem": "system",
    "System-Automation": "system",
    "Productivity-Apps": "productivity",
    "Media-Processing": "media",
    "Information-Retrieval": "research",
    "Finance-Accounting": "finance",
    "Coding-Quality": "software",
    "Document-Processing": "documents",
    "Data-Analytics": "data",
    "DevOps-Infrastructure": "operations",
    "Communication": "communication",
    "Browser-Interaction": "browser",
    "Content-Creation": "creation",
    "CRM-Sales-Marketing": "marketing",
    "Chinese-Platforms": "social",
    "Security-Safety": "security",
}
# Their pattern -> ours (several joined by +).
PATTERNS = {
    "shell_terminal": "shell_command",
    "workflow_automation": "automation_flow",
    "multi_service_api": "service_gateway",
    "note_knowledge": "notes_knowledge",
    "calendar_scheduling": "calendar_planning",
    "image_processing": "image_work",
    "stock_market": "market_analysis",
    "news_monitoring": "news_tracking",
    "web_search": "web_search",
    "video_processing": "video_work",
    "coding_quality": "code_craft",
    "audio_speech": "speech_audio",
    "browser_automation": "browser_driving",
    "config_env": "settings_and_secrets",
    "git_github": "repository_work",
    "data_analysis": "data_analysis",
    "filesystem_ops": "file_management",
    "document_summarization": "condense_documents",
    "email_management": "email",
    "pdf_processing": "pdf_work",
    "spreadsheet_database": "spreadsheets_databases",
    "crypto_prediction": "crypto_and_odds",
    "marketing_content": "campaigns_and_seo",
    "chat_messaging": "chat_messaging",
    "agent_safety_robustness": "agent_guardrails",
    "google_workspace": "office_suite",
    "chinese_social_content": "chinese_social",
    "crm_sales": "crm_sales",
    "accounting_invoicing": "bookkeeping_commerce",
    "task_project_management": "task_tracking",
    "presentation_generation": "slides",
    "content_rewriting": "writing_style",
    "web_scraping": "page_harvesting",
    "chinese_workplace": "chinese_office",
    "academic_research": "scholarly_search",
    "image_generation": "picture_generation",
    "deep_research": "deep_research",
    "ocr_extraction": "extract_and_scan",
    "deployment_cicd": "deployment",
    "code_security_audit": "security_audit",
    "ui_frontend": "interface_design",
    "smart_home": "smart_devices",
    "desktop_automation": "desktop_control",
    "format_conversion": "convert_formats",
    "docker_containers": "containers_and_servers",
    "video_creation": "video_generation",
    "diagram_generation": "diagrams",
    "compliance_governance": "compliance",
}


def authors_masses(path: Path, key: str, names: Mapping[str, str]) -> dict[str, float]:
    """Their installs by our names: the sums of the rows whose `key` is in `names`."""
    masses: defaultdict[str, float] = defaultdict(float)
    with path.open(encoding="utf-8", newline="") as handle:
        for row in csv.DictReader(handle):
            if row[key] in names:
                masses[names[row[key]]] += float(row["total_installs"])
    return dict(sorted(masses.items()))


def rank_correlation(ours: Mapping[str, float], theirs: Mapping[str, float]) -> dict[str, float]:
    """Spearman's rho and Kendall's tau-b over the common names, and their number `n`."""
    names = sorted(ours.keys() & theirs.keys())
    pairs = [ours[name] for name in names], [theirs[name] for name in names]
    return {
        "n": len(names),
        "spearman": round(float(spearmanr(*pairs).statistic), 4),
        "kendall": round(float(kendalltau(*pairs).statistic), 4),
    }
