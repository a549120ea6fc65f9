"""The places in a text document that python-docx does not write."""

from __future__ import annotations

import re

from tests.challenge.plants.model import Bed, Kind
from tests.challenge.plants.package import REL, Package
from tests.challenge.plants.small import XLSX, small_xlsx
from tests.challenge.plants.values import checked_token, company_code, resident_id

_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_NS = f'xmlns:w="{_W}" xmlns:r="{REL}"'
_DOC = "word/document.xml"
_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml."
_DATE = re.compile(rb'w:date="[^"]*"')
_WHEN = 'w:date="2024-11-18T09:00:00Z"'


def finish(bed: Bed, package: Package) -> None:
    """Add every place that needs raw XML."""
    # python-docx stamps a comment with the time of the run.
    comments = "word/comments.xml"
    package.parts[comments] = _DATE.sub(_WHEN.encode(), package.parts[comments])
    inline = [
        _note(bed, package, "footnote", _FOOTNOTE),
        _note(bed, package, "endnote", _ENDNOTE),
        _changes(bed),
        _fields(bed),
        _link(bed, package),
        _bookmark(bed),
    ]
    package.replace(_DOC, "<w:r><w:t>RAW-INLINE</w:t></w:r>", "".join(inline))
    block = _text_box(bed) + _control(bed) + _chunk(bed, package) + _object(bed, package)
    package.replace(_DOC, "<w:p><w:r><w:t>RAW-BLOCK</w:t></w:r></w:p>", block)
    _settings(bed, package)
    _people(bed, package)
    _custom_xml(bed, package)
    package.custom_property("Reviewer", bed.put("custom property", Kind.PERSON, "Montague Sherwin"))
    package.app_properties(
        bed.put("app properties: manager", Kind.PERSON, "Philippa Garside"),
        bed.put("app properties: company", Kind.ORGANIZATION, "Larchmont Instruments Ltd"),
    )
    package.thumbnail(
        bed.put("thumbnail", Kind.PERSON, "Georgina Travers", "Preview made by {} on her laptop")
    )


_FOOTNOTE = (Kind.PERSON, "Clement Ravenhill", "As told by {} in the first interview.")
_ENDNOTE = (Kind.EMAIL, "clinic@ravenhill-practice.co.uk", "Records can be had from {}.")


def _note(bed: Bed, package: Package, word: str, plant: tuple[Kind, str, str]) -> str:
    text = bed.put(word, *plant)
    package.add(
        f"word/{word}s.xml",
        f'<w:{word}s {_NS}><w:{word} w:type="separator" w:id="-1"><w:p/></w:{word}>'
        f'<w:{word} w:type="continuationSeparator" w:id="0"><w:p/></w:{word}>'
        f'<w:{word} w:id="1"><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:{word}></w:{word}s>',
        f"{_TYPE}{word}s+xml",
    )
    package.relate(_DOC, f"{word}s", f"word/{word}s.xml")
    return f'<w:r><w:{word}Reference w:id="1"/></w:r>'


def _changes(bed: Bed) -> str:
    inserted = bed.put(
        "tracked insertion", Kind.PERSON, "Jocelyn Burgess", " The keys are held by {} now."
    )
    deleted = bed.put("tracked deletion", Kind.PHONE, "13571860492", " 原经办人电话{}，已离职。")
    moved = bed.put(
        "tracked move", Kind.PERSON, "Reginald Pym", " The deposit was returned to {} in cash."
    )
    author = bed.put("author of a tracked change", Kind.PERSON, "Hester Quinnell")
    other = bed.put("author of a format change", Kind.PERSON, "Basil Overton")
    return (
        f'<w:ins w:id="901" w:author="{author}" {_WHEN}><w:r><w:t xml:space="preserve">{inserted}'
        f'</w:t></w:r></w:ins><w:del w:id="902" w:author="{author}" {_WHEN}><w:r>'
        f'<w:delText xml:space="preserve">{deleted}</w:delText></w:r></w:del>'
        f'<w:moveFrom w:id="903" w:author="{author}" {_WHEN}><w:r><w:t xml:space="preserve">{moved}'
        f'</w:t></w:r></w:moveFrom><w:r><w:rPr><w:b/><w:rPrChange w:id="904" w:author="{other}" '
        f"{_WHEN}><w:rPr/></w:rPrChange></w:rPr><w:t>Agreed.</w:t></w:r>"
    )


def _fields(bed: Bed) -> str:
    code = bed.put(
        "field code split over runs",
        Kind.EMAIL,
        "theresa.bolton@eastgate-dental.com",
        ' HYPERLINK "mailto:{}" ',
    )
    result = bed.put(
        "field result", Kind.PERSON, "Theresa Bolton", "Dear {}, thank you for your visit."
    )
    mark = '<w:r><w:fldChar w:fldCharType="{}"/></w:r>'
    middle = len(code) // 2
    codes = "".join(
        f'<w:r><w:instrText xml:space="preserve">{part}</w:instrText></w:r>'
        for part in (code[:middle], code[middle:])
    )
    simple = bed.put("simple field", Kind.PERSON, "Ambrose Littleton", "Filed by {}")
    return (
        mark.format("begin")
        + codes
        + mark.format("separate")
        + f"<w:r><w:t>{result}</w:t></w:r>"
        + mark.format("end")
        + f'<w:fldSimple w:instr=" COMMENTS &quot;{simple}&quot; "><w:r><w:t>x</w:t></w:r>'
        "</w:fldSimple>"
    )


def _link(bed: Bed, package: Package) -> str:
    target = bed.put(
        "hyperlink target",
        Kind.SECRET,
        checked_token("gh" + "p", "docx-link"),
        "https://build.larchmont-tools.com/hook?access_token={}",
    )
    ident = package.relate(_DOC, "hyperlink", target, external=True)
    tip = bed.put("hyperlink tooltip", Kind.PERSON, "Edmund Harcastle", "Build page of {}")
    return (
        f'<w:hyperlink xmlns:r="{REL}" r:id="{ident}" w:tooltip="{tip}">'
        "<w:r><w:t>build page</w:t></w:r></w:hyperlink>"
    )


def _bookmark(bed: Bed) -> str:
    name = bed.put("bookmark name", Kind.PHONE, "17728640593", "mobile_{}")
    return f'<w:bookmarkStart w:id="77" w:name="{name}"/><w:bookmarkEnd w:id="77"/>'


def _text_box(bed: Bed) -> str:
    text = bed.put(
        "text box", Kind.COMPANY_CODE, company_code("440300", "5R2T8K6A"), "甲方信用代码：{}。"
    )
    return (
        '<w:p><w:r><w:pict xmlns:v="urn:schemas-microsoft-com:vml">'
        '<v:shape id="Box1" style="width:200pt;height:40pt"><v:textbox><w:txbxContent>'
        f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:txbxContent></v:textbox></v:shape>"
        "</w:pict></w:r></w:p>"
    )


def _control(bed: Bed) -> str:
    alias = bed.put("content control title", Kind.PERSON, "Lavinia Prescott", "Filled in by {}")
    item = bed.put("content control choice", Kind.PERSON, "Osbert Kingsley")
    text = bed.put(
        "content control text", Kind.PASSPORT, "G62839104", "护照号码{}，有效期至2031年。"
    )
    return (
        f'<w:sdt><w:sdtPr><w:alias w:val="{alias}"/><w:dropDownList>'
        f'<w:listItem w:displayText="{item}" w:value="1"/></w:dropDownList></w:sdtPr>'
        f"<w:sdtContent><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:sdtContent></w:sdt>"
    )


def _chunk(bed: Bed, package: Package) -> str:
    text = bed.put(
        "embedded page", Kind.PERSON, "Prudence Hallam", "The minutes were taken by {} in person."
    )
    page = f"<html><body><p>{text}</p></body></html>"
    package.add_binary("word/afchunk1.html", page.encode(), "text/html")
    ident = package.relate(_DOC, "aFChunk", "word/afchunk1.html")
    return f'<w:altChunk xmlns:r="{REL}" r:id="{ident}"/>'


def _object(bed: Bed, package: Package) -> str:
    value = bed.put(
        "embedded workbook",
        Kind.NATIONAL_ID,
        resident_id("32058119950217462"),
        contextual=True,
    )
    rows = (("Participant", "身份证号"), ("A", value))
    package.add_binary("word/embeddings/Workbook1.xlsx", small_xlsx(rows), XLSX)
    ident = package.relate(_DOC, "package", "word/embeddings/Workbook1.xlsx")
    return (
        '<w:p><w:r><w:object xmlns:v="urn:schemas-microsoft-com:vml" '
        'xmlns:o="urn:schemas-microsoft-com:office:office"><v:shape id="Ole1" '
        'style="width:80pt;height:40pt"/><o:OLEObject Type="Embed" ProgID="Excel.Sheet.12" '
        f'ShapeID="Ole1" DrawAspect="Icon" ObjectID="_1" r:id="{ident}" xmlns:r="{REL}"/>'
        "</w:object></w:r></w:p>"
    )


def _settings(bed: Bed, package: Package) -> None:
    template = bed.put(
        "template path",
        Kind.USER_PATH,
        "rosie.tamblyn",
        "file:///C:\\Users\\{}\\Templates\\hr.dotx",
    )
    part = "word/settings.xml"
    ident = package.relate(part, "attachedTemplate", template, external=True)
    variable = bed.put(
        "document variable", Kind.ADDRESS, "浙江省杭州市西湖区文三路487号8幢1203室", "寄送地址：{}"
    )
    merge = bed.put(
        "mail merge source", Kind.USER_PATH, "d.pickersgill", "SELECT * FROM /home/{}/clients.csv"
    )
    package.before(
        part,
        "</w:settings>",
        f'<w:attachedTemplate xmlns:r="{REL}" r:id="{ident}"/><w:mailMerge>'
        f'<w:query w:val="{merge}"/></w:mailMerge><w:docVars>'
        f'<w:docVar w:name="post" w:val="{variable}"/></w:docVars>',
    )


def _people(bed: Bed, package: Package) -> None:
    space = "http://schemas.microsoft.com/office/word/2012/wordml"
    name = bed.put("people part: author", Kind.PERSON, "Millicent Draycott")
    login = bed.put("people part: login", Kind.EMAIL, "m.draycott@larchmont-instruments.com")
    package.add(
        "word/people.xml",
        f'<w15:people xmlns:w15="{space}"><w15:person w15:author="{name}"><w15:presenceInfo '
        f'w15:providerId="AD" w15:userId="{login}"/></w15:person></w15:people>',
        _TYPE + "people+xml",
    )
    relation = "http://schemas.microsoft.com/office/2011/relationships/people"
    package.relate(_DOC, relation, "word/people.xml")


def _custom_xml(bed: Bed, package: Package) -> None:
    text = bed.put("custom XML part", Kind.PLATE, "浙A·8K3F6", "来访车辆车牌{}，已登记")
    attribute = bed.put("custom XML attribute", Kind.PERSON, "Leopold Farnham", contextual=True)
    package.parts["customXml/item9.xml"] = (
        f'<visit xmlns="urn:visits" visitor="{attribute}"><note>{text}</note></visit>'
    ).encode()
    package.relate(_DOC, "customXml", "customXml/item9.xml")
