"""The language gate: a text in a language without support is never masked half in silence."""

from __future__ import annotations

import pytest

from anonymization.documents.document import pieces_in
from anonymization.documents.scopes import MaskingConfig, languages_of
from anonymization.masking_gates import (
    LANGUAGE,
    LanguageConfig,
    language_use,
    languages_in,
    spoken_languages,
    supported_languages,
)
from anonymization.masking_recipe import MaskingLevel, MaskingRecipe, for_source
from anonymization.text.contracts import DetectionConfig
from data.contracts import Disclosure, Status

WRITTEN = {
    "en": "Please read the attached report and write a short summary of the three main risks that "
    "it names, with one sentence about each of them and the page on which it stands.",
    "de": "Bitte lesen Sie den beigefügten Bericht und schreiben Sie eine kurze Zusammenfassung "
    "der drei wichtigsten Risiken, mit einem Satz zu jedem und der Seite, auf der es steht.",
    "fr": "Merci de lire le rapport ci-joint et de rédiger un court résumé des trois principaux "
    "risques qu'il cite, avec une phrase sur chacun et la page où il se trouve.",
    "ru": "Пожалуйста, прочитайте приложенный отчёт и напишите краткое изложение трёх главных "
    "рисков, по одному предложению о каждом, с указанием страницы.",
    "es": "Lea por favor el informe adjunto y escriba un breve resumen de los tres riesgos "
    "principales que menciona, con una frase sobre cada uno y la página en la que aparece.",
    "ja": "添付の報告書を読んで、主なリスクを三つ、それぞれ一文でまとめてください。",
    "ko": "첨부한 보고서를 읽고 주요 위험 세 가지를 각각 한 문장으로 요약해 주세요.",
    "zh": "请阅读附件中的报告，并用一句话分别概括其中提到的三个主要风险。",
}


@pytest.mark.parametrize("language", WRITTEN)
def test_only_the_languages_of_the_models_pass(language: str) -> None:
    counts = languages_in([WRITTEN[language]])
    assert counts == {language: 1}
    seen = language_use([counts], supported_languages(DetectionConfig()))
    verdict = LANGUAGE.judge(seen, LanguageConfig())
    if language in ("en", "ja", "zh"):
        assert verdict.status is Status.PASSED
    else:
        assert verdict.reason == "masking.language_unsupported"
        assert seen.language == language


def test_short_messages_are_read_together() -> None:
    words = WRITTEN["fr"].split()
    messages = [" ".join(words[start : start + 4]) for start in range(0, len(words), 4)]
    assert languages_in(messages) == {"fr": 1}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Muller, Schmidt, Fischer",
        "def f(x):\n    return x.value + self.total_amount\n" * 20,
        "/srv/données/été/février.csv\n" * 30,
        "✓ src/data_loader.py: ~23K tokens (target: 15K) ✓\n" * 12,
        "12.5;13.75;99.0\n" * 100,
        "AB-12 CD-34 EF-56 GH-78\n" * 40,
    ],
)
def test_names_code_paths_and_numbers_are_in_no_other_language(text: str) -> None:
    assert set(languages_in([text])) <= {"en"}


def test_kept_tasks_are_unverified() -> None:
    seen = language_use([languages_in([WRITTEN["de"]])], {"en", "zh"})
    verdict = LANGUAGE.judge(seen, LanguageConfig(unsupported="keep"))
    assert (verdict.status, verdict.reason) == (
        Status.UNVERIFIED,
        "masking.language_unsupported",
    )


def test_the_commonest_unsupported_language_is_named() -> None:
    seen = language_use([{"de": 1, "en": 5}, {"fr": 2, "de": 1}, {"ko": 1}], {"en"})
    assert (seen.blocks, seen.unsupported, seen.language) == (10, 5, "de")


def test_what_is_known_by_its_form_needs_no_language() -> None:
    public = for_source(MaskingRecipe(), Disclosure.PUBLIC)
    assert supported_languages(public.detection) is None
    full = for_source(MaskingRecipe(level=MaskingLevel.FULL), Disclosure.PUBLIC)
    assert supported_languages(full.detection) == frozenset({"en", "ja", "zh"})
    english = DetectionConfig(chinese_model="", japanese_model="")
    assert supported_languages(english) == frozenset({"en"})
    seen = language_use([{"de": 3}], None)
    assert LANGUAGE.judge(seen, LanguageConfig()).status is Status.PASSED


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("이름,전화\n박서연,010-2233-4455\n", "ko"),
        ("고객: 김민수에게 전화", "ko"),
        ("Имя: Пётр Саврасов, телефон", "ru"),
        ("Kunde;Straße;Ort;Betrag\nFalk Ottweiler;Am Anger 3;Gera;12\n", "de"),
    ],
)
def test_short_texts_of_a_task_show_their_language_too(text: str, language: str) -> None:
    seen = language_use([spoken_languages([text])], {"en", "zh", "ja"})
    assert seen.language == language
    assert LANGUAGE.judge(seen, LanguageConfig()).status is Status.FAILED


def test_a_menu_of_languages_and_single_letters_are_in_no_other_language() -> None:
    menu = "English | Deutsch | Français | 한국어 | Русский | 日本語"
    for text in (menu, "α = 0.05 and β = 0.2", "Use the Jürgen theme for the façade"):
        assert language_use([spoken_languages([text])], {"en", "zh", "ja"}).unsupported == 0


def test_a_log_is_no_prose_in_any_language() -> None:
    records = [
        "2025-03-04 10:15:02 INFO selesai memproses data dari antrian yang masuk ke dalam sistem",
        "alias = petugas",
        "pesan = [kirim, terima, laporan, pengguna, alamat, kepada]",
    ]
    assert languages_in("\n".join(records * 20) for _ in range(2)) == {}


def test_a_list_of_names_is_in_no_language() -> None:
    names = ("Ana Pop", "Mihai Ionescu", "Radu Toma", "Ioana Munteanu", "Vlad Barbu", "Elena Stan")
    rows = "".join(f"{n},{name},Finance\n" for n, name in enumerate(names * 12))
    config = MaskingConfig()
    counts = languages_of(pieces_in(f"id,who,unit\n{rows}".encode(), "u.csv"), config.detection)
    assert counts.keys() <= {"en"}
    said = "Vă rugăm să trimiteți factura până vineri, deoarece luni închidem luna contabilă.\n"
    counts = languages_of(pieces_in((said * 8).encode(), "u.txt"), config.detection)
    assert "ro" in counts


def test_addresses_and_companies_of_foreign_customers_are_in_no_language() -> None:
    config = MaskingConfig().detection
    rows = (
        ("Les Trois Moulins et fils", "27, place du Vieux Marché"),
        ("La Maison des Épices de la Loire", "112, rue de la République"),
        ("Au Bonheur des Marins du Port", "5, avenue de la Grande Armée"),
    )
    table = "".join(f'{n},"{rows[n % 3][0]}","{rows[n % 3][1]}"\n' for n in range(60))
    listed = pieces_in(f"id,companyName,address\n{table}".encode(), "c.csv")
    assert "fr" not in languages_of(listed, config)
    remarks = pieces_in(f"id,remark,comment\n{table}".encode(), "r.csv")
    assert "fr" in languages_of(remarks, config)


def test_rows_of_a_database_without_phrases_are_in_no_language() -> None:
    names = ("Ine Solberg", "Mika Aoki", "Tove Rye", "Ada Kita")
    rows = [f"({n}, '{names[n % 4]}', '2021-04-0{n % 9} 10:11:12', 'WFO', '')," for n in range(60)]
    assert languages_in(rows) == {}
    said = "Wir danken allen Kolleginnen und Kollegen für die gute Arbeit in diesem Jahr"
    assert languages_in(f"({n}, 'Ine Solberg', '{said} {n}')," for n in range(20)).keys() == {"de"}
