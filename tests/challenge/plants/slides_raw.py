"""The places in a presentation that python-pptx does not write."""

from __future__ import annotations

from tests.challenge.plants.model import Bed, Kind
from tests.challenge.plants.package import REL, Package
from tests.challenge.plants.small import DOCX, small_docx
from tests.challenge.plants.values import company_code, password

_P = "http://schemas.openxmlformats.org/presentationml/2006/main"
_A = "http://schemas.openxmlformats.org/drawingml/2006/main"
_P15 = "http://schemas.microsoft.com/office/powerpoint/2018/8/main"
_P14 = "http://schemas.microsoft.com/office/powerpoint/2010/main"
_DECK, _SLIDE, _TABLE = "ppt/presentation.xml", "ppt/slides/slide1.xml", "ppt/slides/slide2.xml"
_TYPE = "application/vnd.openxmlformats-officedocument.presentationml."


def finish(bed: Bed, package: Package) -> None:
    """Add every place that needs raw XML."""
    _comments(bed, package)
    _threaded(bed, package)
    _tags(bed, package)
    _sections(bed, package)
    _tooltip(bed, package)
    _embedded(bed, package)
    package.custom_property(
        "Client contact", bed.put("custom property", Kind.PERSON, "Tabitha Lockhart")
    )
    package.app_properties(
        bed.put("app properties: manager", Kind.PERSON, "Ignatius Forsyth"),
        bed.put("app properties: company", Kind.ORGANIZATION, "Tidewater Capital Partners LLP"),
    )
    package.thumbnail(
        bed.put("thumbnail", Kind.PHONE, "(415) 555-0178", "Rendered on the desk phone {}")
    )


def _comments(bed: Bed, package: Package) -> None:
    author = bed.put("comment author", Kind.PERSON, "Clementine Ashby")
    text = bed.put(
        "comment", Kind.PERSON, "Percival Stanhope", "Please check the figure with {} first."
    )
    package.add(
        "ppt/commentAuthors.xml",
        f'<p:cmAuthorLst xmlns:p="{_P}"><p:cmAuthor id="0" name="{author}" initials="CA" '
        'lastIdx="1" clrIdx="0"/></p:cmAuthorLst>',
        _TYPE + "commentAuthors+xml",
    )
    package.relate(_DECK, "commentAuthors", "ppt/commentAuthors.xml")
    package.add(
        "ppt/comments/comment1.xml",
        f'<p:cmLst xmlns:p="{_P}"><p:cm authorId="0" dt="2024-11-18T09:00:00.000" idx="1">'
        f'<p:pos x="10" y="10"/><p:text>{text}</p:text></p:cm></p:cmLst>',
        _TYPE + "comments+xml",
    )
    package.relate(_SLIDE, "comments", "ppt/comments/comment1.xml")


def _threaded(bed: Bed, package: Package) -> None:
    name = bed.put("threaded comment author", Kind.PERSON, "Euphemia Strand")
    login = bed.put("threaded comment login", Kind.EMAIL, "estrand@tidewater-cap.com")
    text = bed.put("threaded comment", Kind.PHONE, "15267390481", "有疑问打我手机{}，别发邮件。")
    author = "{C6A1B0E2-53D4-4F7A-9B1C-2D3E4F5A6B7C}"
    relations = "http://schemas.microsoft.com/office/2018/10/relationships"
    package.add(
        "ppt/authors.xml",
        f'<p188:authorLst xmlns:p188="{_P15}"><p188:author id="{author}" name="{name}" '
        f'initials="ES" userId="{login}" providerId="AD"/></p188:authorLst>',
        "application/vnd.ms-powerpoint.authors+xml",
    )
    package.relate(_DECK, f"{relations}/authors", "ppt/authors.xml")
    package.add(
        "ppt/comments/modernComment_101.xml",
        f'<p188:cmLst xmlns:p188="{_P15}" xmlns:a="{_A}">'
        f'<p188:cm id="{{0E1F2A3B-4C5D-4E6F-8A9B-0C1D2E3F4A5B}}" authorId="{author}" '
        'created="2024-11-18T09:00:00.000"><p188:txBody><a:bodyPr/><a:p><a:r>'
        f"<a:t>{text}</a:t></a:r></a:p></p188:txBody></p188:cm></p188:cmLst>",
        "application/vnd.ms-powerpoint.comments+xml",
    )
    package.relate(_TABLE, f"{relations}/comments", "ppt/comments/modernComment_101.xml")


def _tags(bed: Bed, package: Package) -> None:
    value = bed.put("tag", Kind.SECRET, password("tag"), "sync login: user=deck-sync password={}")
    package.add(
        "ppt/tags/tag1.xml",
        f'<p:tagLst xmlns:p="{_P}"><p:tag name="SYNC" val="{value}"/></p:tagLst>',
        _TYPE + "tags+xml",
    )
    package.relate(_DECK, "tags", "ppt/tags/tag1.xml")


def _sections(bed: Bed, package: Package) -> None:
    name = bed.put("section name", Kind.PERSON, "Rosalie Underhill", "Part of {}")
    show = bed.put("custom show name", Kind.PERSON, "Thaddeus Corrigan", "Short version for {}")
    section = (
        '<p:extLst><p:ext uri="{521415D9-36F7-43E2-AB2F-B90AF26B5E84}">'
        f'<p14:sectionLst xmlns:p14="{_P14}"><p14:section name="{name}" '
        'id="{1B2C3D4E-5F60-4718-8293-A4B5C6D7E8F9}"><p14:sldIdLst/></p14:section>'
        "</p14:sectionLst></p:ext></p:extLst>"
    )
    custom = (
        f'<p:custShowLst><p:custShow name="{show}" id="0"><p:sldLst/></p:custShow></p:custShowLst>'
    )
    text = package.parts[_DECK].decode()
    if "<p:extLst>" in text:
        package.replace(_DECK, "<p:extLst>", section.removesuffix("</p:extLst>"))
    else:
        package.before(_DECK, "</p:presentation>", section)
    package.replace(_DECK, "<p:defaultTextStyle>", custom + "<p:defaultTextStyle>")


def _tooltip(bed: Bed, package: Package) -> None:
    tip = bed.put(
        "hyperlink tooltip", Kind.COMPANY_CODE, company_code("330106", "7H3N9P2W"), "税号：{}"
    )
    package.replace(_SLIDE, "<a:hlinkClick ", f'<a:hlinkClick tooltip="{tip}" ')


def _embedded(bed: Bed, package: Package) -> None:
    text = bed.put(
        "embedded document",
        Kind.PERSON,
        "Wilhelmina Croft",
        "Witness statement of {}, page 1 of 4.",
    )
    package.add_binary("ppt/embeddings/Document1.docx", small_docx([text]), DOCX)
    ident = package.relate(_TABLE, "package", "ppt/embeddings/Document1.docx")
    frame = (
        "<p:graphicFrame><p:nvGraphicFramePr>"
        '<p:cNvPr id="91" name="Object 1"/><p:cNvGraphicFramePr/><p:nvPr/></p:nvGraphicFramePr>'
        '<p:xfrm><a:off x="0" y="0"/><a:ext cx="914400" cy="914400"/></p:xfrm><a:graphic>'
        f'<a:graphicData uri="{_P.replace("main", "ole")}"><p:oleObj name="Document" '
        f'xmlns:r="{REL}" r:id="{ident}" imgW="914400" imgH="914400" progId="Word.Document.12">'
        "<p:embed/></p:oleObj></a:graphicData></a:graphic></p:graphicFrame>"
    )
    package.before(_TABLE, "</p:spTree>", frame)
