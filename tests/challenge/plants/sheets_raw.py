"""The places in a workbook that openpyxl does not write."""

from __future__ import annotations

import re

from tests.challenge.plants.model import Bed, Kind
from tests.challenge.plants.package import REL, Package
from tests.challenge.plants.small import DOCX, small_docx
from tests.challenge.plants.values import card, password, resident_id

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_DRAW = "http://schemas.openxmlformats.org/drawingml/2006"
_THREADED = "http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments"
_PERSON_REL = "http://schemas.microsoft.com/office/2017/10/relationships"
_SHEET, _BOOK = "xl/worksheets/sheet1.xml", "xl/workbook.xml"
_INLINE = re.compile(r't="inlineStr"><is>(.*?)</is>', re.DOTALL)
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml."


def finish(bed: Bed, package: Package) -> None:
    """Add every place that needs raw XML."""
    _share_strings(package)
    _runs_and_cache(bed, package)
    _threaded(bed, package)
    _drawing(bed, package)
    _pivot(bed, package)
    _outside(bed, package)
    _embedded(bed, package)
    package.custom_property(
        "Case handler", bed.put("custom property", Kind.PERSON, "Gregory Millbank")
    )
    package.app_properties(
        bed.put("app properties: manager", Kind.PERSON, "Isabel Hartnell"),
        bed.put("app properties: company", Kind.ORGANIZATION, "Brackenridge Tooling Ltd"),
    )
    package.thumbnail(
        bed.put("thumbnail", Kind.EMAIL, "scans@brackenridge-tooling.com", "Scan sent to {}")
    )


def _share_strings(package: Package) -> None:
    """The first sheet's strings as shared strings, as Excel writes them; the others stay inline."""
    items: list[str] = []

    def share(hit: re.Match[str]) -> str:
        items.append(f"<si>{hit[1]}</si>")
        return f't="s"><v>{len(items) - 1}</v>'

    sheet = _INLINE.sub(share, package.parts[_SHEET].decode())
    package.parts[_SHEET] = sheet.encode()
    package.add(
        "xl/sharedStrings.xml",
        f'<sst xmlns="{_MAIN}" count="{len(items)}" uniqueCount="{len(items)}">'
        + "".join(items)
        + "</sst>",
        _TYPE + "sharedStrings+xml",
    )
    package.relate(_BOOK, "sharedStrings", "xl/sharedStrings.xml")


def _runs_and_cache(bed: Bed, package: Package) -> None:
    name = bed.put("rich text split over runs", Kind.PERSON, "Theodore Blackwood")
    head, tail = name[:5], name[5:]
    runs = (
        '<si><r><t xml:space="preserve">The claim of </t></r>'
        f"<r><rPr><b/></rPr><t>{head}</t></r><r><t>{tail}</t></r>"
        '<r><t xml:space="preserve"> was paid in March.</t></r></si>'
    )
    package.replace("xl/sharedStrings.xml", "<si><t>RICH</t></si>", runs)
    cached = bed.put(
        "cached formula value", Kind.BANK_CARD, card("621700183000492615"), "Card on file: {}"
    )
    formula = '<f>CONCATENATE("Card on file: ",B6)</f>'
    package.replace(_SHEET, '<c r="A5"', '<c r="A5" t="str"')
    package.replace(_SHEET, f"{formula}<v></v>", f"{formula}<v>{cached}</v>")


def _threaded(bed: Bed, package: Package) -> None:
    text = bed.put(
        "threaded comment", Kind.PHONE, "+1 202-555-0163", "Call me on {} when this is settled"
    )
    who = bed.put("threaded comment author", Kind.PERSON, "Marianne Coldwell")
    login = bed.put("threaded comment login", Kind.EMAIL, "mcoldwell@ashgrovebooks.com")
    person = "{5D1C2A10-6E7B-4C1D-9A55-0B7E3F2D1C01}"
    package.add(
        "xl/persons/person.xml",
        f'<personList xmlns="{_THREADED}"><person displayName="{who}" id="{person}" '
        f'userId="{login}" providerId="AD"/></personList>',
        "application/vnd.ms-excel.person+xml",
    )
    package.relate(_BOOK, f"{_PERSON_REL}/person", "xl/persons/person.xml")
    package.add(
        "xl/threadedComments/threadedComment1.xml",
        f'<ThreadedComments xmlns="{_THREADED}"><threadedComment ref="B2" '
        f'dT="2024-11-18T09:00:00.00" personId="{person}" '
        f'id="{{7A3B0C1D-2E4F-4A5B-8C6D-7E8F90A1B2C3}}"><text>{text}</text>'
        "</threadedComment></ThreadedComments>",
        "application/vnd.ms-excel.threadedcomments+xml",
    )
    package.relate(
        _SHEET, f"{_PERSON_REL}/threadedComment", "xl/threadedComments/threadedComment1.xml"
    )


def _drawing(bed: Bed, package: Package) -> None:
    text = bed.put("text box", Kind.PERSON, "Adrian Fairclough", "Reviewed with {} on the 4th.")
    alt = bed.put("alt text", Kind.PERSON, "Geraldine Moss", "Portrait of {} at her desk")
    marker = "<xdr:{0}><xdr:col>{1}</xdr:col><xdr:colOff>0</xdr:colOff>"
    marker += "<xdr:row>{1}</xdr:row><xdr:rowOff>0</xdr:rowOff></xdr:{0}>"
    shape = (
        f'<xdr:twoCellAnchor xmlns:xdr="{_DRAW}/spreadsheetDrawing" xmlns:a="{_DRAW}/main">'
        f"{marker.format('from', 9)}{marker.format('to', 12)}"
        '<xdr:sp macro="" textlink=""><xdr:nvSpPr>'
        f'<xdr:cNvPr id="77" name="TextBox 1" descr="{alt}"/><xdr:cNvSpPr txBox="1"/>'
        '</xdr:nvSpPr><xdr:spPr><a:prstGeom prst="rect"><a:avLst/></a:prstGeom></xdr:spPr>'
        f"<xdr:txBody><a:bodyPr/><a:p><a:r><a:t>{text}</a:t></a:r></a:p></xdr:txBody>"
        "</xdr:sp><xdr:clientData/></xdr:twoCellAnchor>"
    )
    package.before("xl/drawings/drawing1.xml", "</wsDr>", shape)
    cached = bed.put("chart cache", Kind.PERSON, "Imogen Vasey", "Sales of {}", contextual=True)
    package.replace(
        "xl/charts/chart1.xml",
        "<f>'Orders'!F1</f>",
        "<f>'Orders'!F1</f><strCache><ptCount val=\"1\"/>"
        f'<pt idx="0"><v>{cached}</v></pt></strCache>',
    )


def _pivot(bed: Bed, package: Package) -> None:
    item = bed.put("pivot cache item", Kind.PERSON, "Leonard Hathaway")
    record = bed.put("pivot cache record", Kind.EMAIL, "orders@hathaway-marine.com", "sent to {}")
    definition = "xl/pivotCache/pivotCacheDefinition1.xml"
    records = "xl/pivotCache/pivotCacheRecords1.xml"
    table = "xl/pivotTables/pivotTable1.xml"
    package.add(
        records,
        f'<pivotCacheRecords xmlns="{_MAIN}" count="1"><r><x v="0"/><s v="{record}"/></r>'
        "</pivotCacheRecords>",
        _TYPE + "pivotCacheRecords+xml",
    )
    package.add(
        definition,
        f'<pivotCacheDefinition xmlns="{_MAIN}" xmlns:r="{REL}" r:id="rIdX1" '
        'refreshOnLoad="0" recordCount="1"><cacheSource type="worksheet">'
        '<worksheetSource ref="A12:B13" sheet="Orders"/></cacheSource><cacheFields count="2">'
        f'<cacheField name="Sales manager"><sharedItems count="1"><s v="{item}"/></sharedItems>'
        '</cacheField><cacheField name="Note"><sharedItems/></cacheField></cacheFields>'
        "</pivotCacheDefinition>",
        _TYPE + "pivotCacheDefinition+xml",
    )
    link = package.relate(definition, "pivotCacheRecords", records)
    package.replace(definition, "rIdX1", link)
    package.add(table, _PIVOT_TABLE, _TYPE + "pivotTable+xml")
    package.relate(table, "pivotCacheDefinition", definition)
    package.relate("xl/worksheets/sheet2.xml", "pivotTable", table)
    cache = package.relate(_BOOK, "pivotCacheDefinition", definition)
    package.before(
        _BOOK,
        "</workbook>",
        f'<pivotCaches><pivotCache xmlns:r="{REL}" cacheId="7" r:id="{cache}"/></pivotCaches>',
    )


_PIVOT_TABLE = (
    f'<pivotTableDefinition xmlns="{_MAIN}" name="Pivot1" cacheId="7" dataCaption="Values">'
    '<location ref="D3:E5" firstHeaderRow="1" firstDataRow="1" firstDataCol="1"/>'
    '<pivotFields count="2"><pivotField axis="axisRow" showAll="0"><items count="2">'
    '<item x="0"/><item t="default"/></items></pivotField><pivotField showAll="0"/>'
    "</pivotFields></pivotTableDefinition>"
)


def _outside(bed: Bed, package: Package) -> None:
    login = bed.put(
        "data connection",
        Kind.SECRET,
        password("connection"),
        "Provider=SQLOLEDB.1;Data Source=ledger-db;User ID=report;Password={};",
    )
    package.add(
        "xl/connections.xml",
        f'<connections xmlns="{_MAIN}"><connection id="1" name="Ledger" type="1" '
        f'refreshedVersion="6"><dbPr connection="{login}" command="select 1"/></connection>'
        "</connections>",
        _TYPE + "connections+xml",
    )
    package.relate(_BOOK, "connections", "xl/connections.xml")
    cached = bed.put(
        "cached value of an external link", Kind.PERSON, "Beatrice Holroyd", "Budget owner: {}"
    )
    package.replace(
        "xl/externalLinks/externalLink1.xml",
        "</externalBook>",
        '<sheetDataSet><sheetData sheetId="0">'
        f'<row r="1"><cell r="A1" t="str"><v>{cached}</v></cell></row></sheetData>'
        "</sheetDataSet></externalBook>",
    )


def _embedded(bed: Bed, package: Package) -> None:
    text = bed.put(
        "embedded document",
        Kind.NATIONAL_ID,
        resident_id("51010419931122830"),
        "委托人身份证号码：{}，委托代理人办理变更登记。",
    )
    package.add_binary("xl/embeddings/Document1.docx", small_docx([text]), DOCX)
    link = package.relate(_SHEET, "package", "xl/embeddings/Document1.docx")
    package.before(
        _SHEET,
        "</worksheet>",
        f'<oleObjects xmlns:r="{REL}">'
        f'<oleObject progId="Word.Document.12" shapeId="1033" r:id="{link}"/></oleObjects>',
    )
