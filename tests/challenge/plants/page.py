"""The planted web page."""

from __future__ import annotations

import base64
import json
import urllib.parse
from pathlib import Path

from tests.challenge.plants.model import Bed, Kind, Plant
from tests.challenge.plants.repeated import repeated
from tests.challenge.plants.values import (
    card,
    cloud_key,
    company_code,
    password,
    resident_id,
    token,
)


def build_page(out: Path) -> list[Plant]:
    """One page; its name is a plant as well."""
    bed = Bed(out / "profile_of_augusta.winthrop@hollowayfirm.com.html", "html")
    bed.put("file name", Kind.EMAIL, "augusta.winthrop@hollowayfirm.com", "profile_of_{}.html")
    lines = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        *_head(bed),
        "<body>",
        *_text(bed),
        *_split(bed),
        *_attributes(bed),
        *_form(bed),
        *_scripts(bed),
        "</body>",
        "</html>",
    ]
    bed.path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return bed.plants


def _head(bed: Bed) -> list[str]:
    put = bed.put
    title = put("title", Kind.PERSON, "Bartholomew Finch", "Patient record of {}")
    author = put("meta author", Kind.PERSON, "Drusilla Pemberley")
    about = put("meta description", Kind.PHONE, "020 7946 0155", "Book a visit by calling {} today")
    style = put("style content", Kind.PERSON, "Lambert Osgood", 'p.s::after { content: "Dr {}"; }')
    linked = {
        "@type": "Person",
        "name": put("linked data", Kind.PERSON, "百里清和", contextual=True),
    }
    return [
        '<head><meta charset="utf-8">',
        f"<title>{title}</title>",
        f'<meta name="author" content="{author}">',
        f'<meta name="description" content="{about}">',
        f"<style>{style}</style>",
        f'<script type="application/ld+json">{json.dumps(linked)}</script>',
        "</head>",
    ]


def _text(bed: Bed) -> list[str]:
    put = bed.put
    office = "广州市天河区体育西路191号中石化大厦B塔2807室"
    text = put("text", Kind.PERSON, "Marguerite Sealey", "The surgeon is {} of Durham.")
    address = put("text, Chinese", Kind.ADDRESS, office, "收件地址：{}，请写清楚。")
    comment = put("comment", Kind.PERSON, "Fitzgerald Moyle", "TODO ask {} for the form")
    plain = put("noscript", Kind.EMAIL, "triage@sealey-clinic.org", "Write to {}")
    case = put("template", Kind.CASE_NUMBER, "（2022）京03民终6157号", "参见{}判决")
    return [
        f"<p>{text}</p><p>{address}</p><p>{repeated(bed, 'text, repeated value')}</p>",
        f"<!-- {comment} -->",
        f"<noscript>{plain}</noscript><template>{case}</template>",
        "<table><tr><th>姓名</th><th>银行卡</th></tr><tr><td>甲</td><td>"
        + put("table cell", Kind.BANK_CARD, card("621799610004837215"), contextual=True)
        + "</td></tr></table>",
        "<svg><title>"
        + put("picture title", Kind.PERSON, "Venetia Goodall", "Family tree of {}")
        + "</title></svg>",
    ]


def _split(bed: Bed) -> list[str]:
    put = bed.put
    name = put("split across inline tags", Kind.PERSON, "Philomena Sturgess", contextual=True)
    phone = put("split across tags, Chinese", Kind.PHONE, "13057429186", contextual=True)
    code = put(
        "numeric entities",
        Kind.NATIONAL_ID,
        resident_id("42011119790603591"),
        contextual=True,
    )
    mail = put("named entities", Kind.EMAIL, "r.castellan@sealey-clinic.org", contextual=True)
    soft = put("soft hyphens", Kind.PERSON, "Wolfgang Haversham", contextual=True)
    wide = put("entities of a Chinese name", Kind.PERSON, "慕容雪晴", contextual=True)
    return [
        f"<p>The nurse on duty was <b>{name[:4]}</b>{name[4:12]}<i>{name[12:]}</i> that night.</p>",
        f"<p>家属电话<span>{phone[:3]}</span><span>{phone[3:7]}</span><em>{phone[7:]}</em>，谢谢</p>",
        f"<p>身份证号：{''.join(f'&#{ord(char)};' for char in code)}</p>",
        f"<p>Mail: {mail.replace('@', '&commat;').replace('.', '&period;')} any day</p>",
        f"<p>Mr {soft[:5]}&shy;{soft[5:]} left the ward at noon.</p>",
        f"<p>主治医师{''.join(f'&#x{ord(char):x};' for char in wide)}签字确认。</p>",
    ]


def _attributes(bed: Bed) -> list[str]:
    put = bed.put
    note = put(
        "data URI in base64", Kind.PERSON, "Sylvester Crane", "Discharge note for {}: stable."
    )
    coded = base64.b64encode(note.encode()).decode()
    plain = put("data URI, percent-encoded", Kind.PHONE, "18540617293", "联系电话：{}")
    mail = put("mail link, percent-encoded", Kind.EMAIL, "anton.weiss+ward7@sealey-clinic.org")
    alt = put("alt attribute", Kind.PERSON, "Isolde Kerrigan", "X-ray of {}, left hand")
    title = put("title attribute", Kind.PERSON, "Maximilian Rudge", "Signed by {} on arrival")
    label = put("aria-label", Kind.PERSON, "Hyacinth Poole", "Call {} now")
    data = put("data attribute", Kind.PERSON_NUMBER, "PAT-0093317", "patient id {}")
    path = put("file link", Kind.USER_PATH, "gilbert_norcross", "file:///Users/{}/Desktop/scan.png")
    query = put(
        "link with token", Kind.URL, token("page", 36), "https://files.sealey-clinic.org/s/{}/scan"
    )
    quoted = urllib.parse.quote(mail, safe="")
    return [
        f'<a href="data:text/plain;base64,{coded}">note</a>',
        f'<a href="data:text/plain;charset=utf-8,{urllib.parse.quote(plain)}">contact</a>',
        f'<a href="mailto:{quoted}?subject=visit">mail</a>',
        f'<img src="x.png" alt="{alt}" title="{title}">',
        f'<button aria-label="{label}" data-ref="{data}">call</button>',
        f'<a href="{path}">scan</a> <a href="{query}">download</a>',
    ]


def _form(bed: Bed) -> list[str]:
    put = bed.put
    hidden = put("hidden field", Kind.PASSPORT, "E71950426", "passport {}")
    value = put("field value", Kind.COMPANY_CODE, company_code("510107", "4W8D1E9L"), "税号 {}")
    hint = put("placeholder", Kind.PHONE, "15834926071", "例如：{}（本人手机）")
    choice = put("option", Kind.PERSON, "Cressida Lomax", "assigned to {}")
    area = put("text area", Kind.PLATE, "粤B·T59K2", "停车登记：{}，蓝色轿车")
    return [
        "<form>",
        f'<input type="hidden" name="doc" value="{hidden}">',
        f'<input name="tax" value="{value}"><input name="tel" placeholder="{hint}">',
        f"<select><option>{choice}</option></select><textarea>{area}</textarea>",
        "</form>",
    ]


def _scripts(bed: Bed) -> list[str]:
    put = bed.put
    state = {
        "user": put("script JSON, escaped", Kind.PERSON, "南宫予安", contextual=True),
        "inner": json.dumps(
            {"note": put("script JSON in JSON", Kind.PHONE, "17316450928", "客户手机{}")}
        ),
        "login": put("script JSON", Kind.SECRET, password("page"), "db password={}"),
    }
    key = put("script constant", Kind.SECRET, cloud_key("page"), 'const accessKeyId = "{}";')
    remark = put("script comment", Kind.PERSON, "Orlando Beckwith", "// ask {} before release")
    handler = put("event handler", Kind.PERSON, "Ferdinand Stokes", "alert('Hello {}')")
    return [
        f"<script>window.state = {json.dumps(state)};\n{key}\n{remark}\n</script>",
        f'<p onclick="{handler}">hello</p>',
    ]
