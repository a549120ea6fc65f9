"""Japanese firms, shops and number plates by their form, where the dictionary cuts a name in kana
into particles: `有限会社かざみや印刷`, `つるみね家具製作所`."""

from __future__ import annotations

from collections.abc import Iterator

from anonymization.text.contracts import EntityType, Finding
from data.text.needs import has_eastern
from data.text.screened import Screened
from data.text.scripts import HAN, HAN_KANA

NAME = "japanese_form"
_SCORE = 0.7
_LEGAL = (
    "株式会社|有限会社|合同会社|合資会社|合名会社|医療法人|学校法人|宗教法人|社会福祉法人"
    "|一般社団法人|一般財団法人"
)
_TRADES = (
    "製作所|工務店|保育園|幼稚園|こども園|工房|設計事務所|歯科医院|歯科|薬局|商店|酒造|醸造|印刷|印刷所|不動産|運輸"
    "|運送|水産|精機|電機|鉄工所|造船所|測量|法律事務所|会計事務所|税理士事務所|美容室|整骨院|接骨院|動物病院|旅館|食堂"
)
_FIRM = Screened(
    rf"(?<![{HAN_KANA}])(?:{_LEGAL})(?:[ぁ-ゖー]{{1,12}}|[ァ-ヺー・]{{1,16}}|[A-Za-z0-9&]{{1,20}})?[{HAN}]{{2,8}}"
)
# Kana before a trade, after the start of a word or a particle, and not ending in a particle.
_SHOP = Screened(
    rf"(?:(?<![{HAN_KANA}])|(?<=[はがをにのとでも]))(?![はがをにのとでも])"
    rf"(?:[ぁ-ゖー]{{2,6}}(?<![のなるいにをがはで])|[ァ-ヺー]{{2,10}})[{HAN}]{{0,4}}(?:{_TRADES})"
)
# Names of two to four Han characters before a trade of which few words are everyday ones.
_HAN_SHOP = Screened(
    rf"(?<![{HAN_KANA}])[{HAN}]{{2,4}}(?:商店|商会|工務店|酒造|醸造|製作所|鉄工所|造船所)(?![{HAN_KANA}])"
)
_PLATE = Screened(
    rf"(?<![{HAN}])[{HAN}ぁ-ん]{{1,4}} ?\d{{2,3}} ?[ぁ-ん] ?[\d・]{{1,2}}[-‐−]?\d{{2}}(?!\d)"
)


def find_japanese_forms(folded: str) -> Iterator[Finding]:
    """Firms, shops and plates, in no order."""
    if not has_eastern(folded):
        return
    for pattern, kind in (
        (_FIRM, EntityType.ORGANIZATION),
        (_SHOP, EntityType.ORGANIZATION),
        (_HAN_SHOP, EntityType.ORGANIZATION),
        (_PLATE, EntityType.PLATE),
    ):
        for match in pattern.finditer(folded):
            yield Finding(*match.span(), kind, NAME, _SCORE)
