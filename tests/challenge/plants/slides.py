"""The planted slides: what python-pptx can write. The rest: `slides_raw`."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pptx
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.enum.shapes import MSO_SHAPE
from pptx.util import Inches

from tests.challenge.plants.model import Bed, Kind, Plant
from tests.challenge.plants.package import Package, png
from tests.challenge.plants.repeated import repeated
from tests.challenge.plants.slides_raw import finish
from tests.challenge.plants.small import small_xlsx
from tests.challenge.plants.values import card, model_key, resident_id

_BOX = (Inches(1), Inches(2), Inches(6), Inches(1))


def build_slides(out: Path) -> list[Plant]:
    """One presentation; its name is a plant as well."""
    bed = Bed(out / "pitch for beatrix.longfellow@tidewater-capital.com.pptx", "pptx")
    bed.put("file name", Kind.EMAIL, "beatrix.longfellow@tidewater-capital.com", "pitch for {}")
    deck = pptx.Presentation()
    _title_slide(bed, deck)
    _table_slide(bed, deck)
    _chart_slide(bed, deck)
    _hidden_slide(bed, deck)
    _masters(bed, deck)
    _properties(bed, deck)
    buffer = io.BytesIO()
    deck.save(buffer)
    package = Package(buffer.getvalue())
    finish(bed, package)
    bed.path.write_bytes(package.save())
    return bed.plants


def _title_slide(bed: Bed, deck: Any) -> None:
    put = bed.put
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = put(
        "title", Kind.PERSON, "Constance Merriman", "Farewell to {} after 30 years"
    )
    name = put("body name split over runs", Kind.PERSON, "Sebastian Thackray", contextual=True)
    paragraph = slide.placeholders[1].text_frame.paragraphs[0]
    paragraph.add_run().text = "The new director is "
    for part in (name[:7], name[7:12], name[12:]):
        paragraph.add_run().text = part
    paragraph.add_run().text = ", formerly of Norwich."
    second = slide.placeholders[1].text_frame.add_paragraph()
    second.text = put("body", Kind.PHONE, "18107524936", "项目负责人手机：{}（微信同号）")
    third = slide.placeholders[1].text_frame.add_paragraph()
    third.text = put(
        "line break in a run", Kind.ACCOUNT, "wxid_k3v9m2p7q1xz22", "加微信\v{}\v备注姓名"
    )
    fourth = slide.placeholders[1].text_frame.add_paragraph()
    fourth.text = repeated(bed, "body, repeated value")
    slide.notes_slide.notes_text_frame.text = put(
        "notes", Kind.PERSON, "Genevieve Albright", "Do not mention that {} was let go in May."
    )
    run = second.add_run()
    run.text = " mail"
    run.hyperlink.address = put(
        "hyperlink target", Kind.EMAIL, "s.thackray@norwichmuseumtrust.org", "mailto:{}"
    )


def _table_slide(bed: Bed, deck: Any) -> None:
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    table = slide.shapes.add_table(2, 2, *_BOX).table
    table.cell(0, 0).text, table.cell(0, 1).text = "Name", "卡号"
    table.cell(1, 0).text = bed.put("table cell 1", Kind.PERSON, "Horatio Denham", contextual=True)
    table.cell(1, 1).text = bed.put(
        "table cell 2", Kind.BANK_CARD, card("622588063491728"), contextual=True
    )
    shape = slide.shapes.add_shape(MSO_SHAPE.RECTANGLE, *_BOX)
    shape.text_frame.text = bed.put(
        "shape text", Kind.NATIONAL_ID, resident_id("12010319900508611"), "申请人（身份证：{}）"
    )
    shape.name = bed.put("shape name", Kind.PERSON, "Rupert Alcott", "Photo of {}")
    group = slide.shapes.add_group_shape()
    inner = group.shapes.add_textbox(*_BOX)
    inner.text_frame.text = bed.put(
        "text box in a group",
        Kind.PERSON,
        "Ottoline Fairweather",
        "Questions go to {} at the desk.",
    )
    text = bed.put("picture metadata", Kind.PERSON, "Jasper Collingwood", "Copyright {} 2024")
    picture = slide.shapes.add_picture(io.BytesIO(png(text)), *_BOX)
    picture._element.nvPicPr.cNvPr.set(
        "descr", bed.put("alt text", Kind.PERSON, "Matilda Ormerod", "{} shaking hands")
    )


def _chart_slide(bed: Bed, deck: Any) -> None:
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    data: Any = CategoryChartData()
    data.categories = [
        bed.put("chart category", Kind.PERSON, "Barnaby Tennant"),
        "Team average",
    ]
    series = bed.put("chart series name", Kind.PERSON, "Henrietta Vaughan", "Sold by {}")
    data.add_series(series, (4, 5))
    chart = slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *_BOX, data).chart
    chart.has_title = True
    chart.chart_title.text_frame.text = bed.put(
        "chart title", Kind.PERSON, "Lucinda Brayshaw", "Bonus of {} over three years"
    )
    inside = bed.put(
        "workbook inside a chart",
        Kind.PHONE,
        "13480926157",
        "数据由李工提供，电话{}",
        contextual=True,
    )
    book = small_xlsx((("", "2023"), ("Team average", 5), (inside, 4)))
    chart.part.chart_workbook.update_from_xlsx_blob(book)


def _hidden_slide(bed: Bed, deck: Any) -> None:
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide._element.set("show", "0")
    slide.shapes.title.text = bed.put(
        "hidden slide", Kind.SECRET, model_key("slide"), "Demo key, remove before sending: {}"
    )
    name = bed.put("slide name", Kind.PERSON, "Archibald Renshaw", "Case of {}")
    slide._element.cSld.set("name", name)
    slide.notes_slide.notes_text_frame.text = bed.put(
        "notes of a hidden slide",
        Kind.ADDRESS,
        "上海市徐汇区漕溪北路396号汇智大厦21层",
        "样品寄到{}，到付。",
    )


def _masters(bed: Bed, deck: Any) -> None:
    master = deck.slide_master
    frame = master.shapes[0].text_frame
    frame.text = bed.put(
        "master text", Kind.PERSON, "Evangeline Marlow", "Slides by {}, do not copy"
    )
    layout = deck.slide_layouts[1]
    layout.shapes[0].text_frame.text = bed.put(
        "layout text", Kind.PHONE, "+44 20 7946 0937", "Press office: {}"
    )
    deck.slides[0].notes_slide.part.notes_master.shapes[0].text_frame.text = bed.put(
        "notes master text", Kind.EMAIL, "speakers@tidewater-events.com", "Return to {}"
    )


def _properties(bed: Bed, deck: Any) -> None:
    core = deck.core_properties
    core.author = bed.put("core properties: author", Kind.PERSON, "Cornelius Blythe")
    core.last_modified_by = bed.put(
        "core properties: last modified by", Kind.PERSON, "Arabella Winstone"
    )
    core.subject = bed.put(
        "core properties: subject",
        Kind.PERSON,
        "Digby Fanshawe",
        "Complaint of {} against the board",
    )
    core.category = bed.put(
        "core properties: category", Kind.CASE_NUMBER, "(2024)沪0115民初73318号", "案件{}材料"
    )
