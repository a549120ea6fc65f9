"""The planted mail: headers, bodies in several encodings, attachments and a mail inside."""

from __future__ import annotations

import io
import zipfile
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from pathlib import Path

from tests.challenge.plants.model import Bed, Kind, Plant
from tests.challenge.plants.repeated import repeated
from tests.challenge.plants.small import XLSX, small_xlsx
from tests.challenge.plants.values import (
    card,
    company_code,
    password,
    payment_key,
    resident_id,
    token,
    web_token,
)

_DATE = "Mon, 18 Nov 2024 09:12:44 +0800"


def build_mail(out: Path) -> list[Plant]:
    """One mail; its name is a plant as well."""
    bed = Bed(out / "Re_ final notice to Desmond Ackroyd.eml", "eml")
    bed.put("file name", Kind.PERSON, "Desmond Ackroyd", "Re_ final notice to {}.eml")
    message = EmailMessage(policy=SMTP)
    _trace(bed, message)
    _people(bed, message)
    _bodies(bed, message)
    _attachments(bed, message)
    _more_attachments(bed, message)
    message.add_attachment(_inner(bed))
    message.preamble = bed.put(
        "preamble", Kind.PERSON, "Gwendolyn Parrish", "Exported by {} from the shared mailbox.\r\n"
    )
    for number, part in enumerate(message.walk()):
        # A message part has no boundary of its own.
        if part.is_multipart() and part.get_content_maintype() == "multipart":
            part.set_boundary(f"=-part-{number:02d}-planted")
    bed.path.write_bytes(message.as_bytes())
    return bed.plants


def _trace(bed: Bed, message: EmailMessage) -> None:
    put = bed.put
    message["Return-Path"] = put(
        "Return-Path", Kind.EMAIL, "bounce-desk@wexcombe-lettings.co.uk", "<{}>"
    )
    host = put("Received: host name", Kind.PERSON, "florence-medway", "from {}-macbook.local")
    address = put("Received: address", Kind.IP_ADDRESS, "185.220.47.193", "([{}])")
    message["Received"] = f"{host} {address} by mx.wexcombe-lettings.co.uk with ESMTPSA; {_DATE}"
    message["Received"] = put(
        "Received: for",
        Kind.EMAIL,
        "k.osgood@wexcombe-lettings.co.uk",
        f"from relay.local by mx2 for <{{}}>; {_DATE}",
    )
    message["X-Originating-IP"] = put("X-Originating-IP", Kind.IP_ADDRESS, "61.174.88.206", "[{}]")
    message["Message-ID"] = put(
        "Message-ID", Kind.EMAIL, "tobias.ellwood.20241118@mail.wexcombe-lettings.co.uk", "<{}>"
    )
    message["References"] = put(
        "References", Kind.EMAIL, "ursula.penhale.77@mail.cobbold-legal.com", "<{}>"
    )
    message["Date"] = _DATE
    message["X-Assigned-Agent"] = put("own header field", Kind.PERSON, "Cuthbert Rainsford")


def _people(bed: Bed, message: EmailMessage) -> None:
    put = bed.put
    message["From"] = Address(
        put("From: display name", Kind.PERSON, "Verity Langdale"),
        addr_spec=put("From: address", Kind.EMAIL, "verity.l@wexcombe-lettings.co.uk"),
    )
    message["To"] = (
        Address(
            put("To: display name, encoded word", Kind.PERSON, "司徒景明"),
            addr_spec=put("To: address", Kind.EMAIL, "situ.jm@qinglan-keji.com.cn"),
        ),
        Address(
            put("To: second display name", Kind.PERSON, "Mordecai Haines"),
            addr_spec="office@qinglan-keji.com.cn",
        ),
    )
    message["Cc"] = put("Cc: group name", Kind.PERSON, "Lysander Crewe", "Friends of {}:;")
    message["Reply-To"] = put("Reply-To", Kind.EMAIL, "claims-4471@cobbold-legal.com", "<{}>")
    message["Subject"] = put(
        "Subject, encoded word",
        Kind.PERSON,
        "诸葛文轩",
        "关于{}先生租房押金退还事宜的最终通知（第三次）",
    )


def _bodies(bed: Bed, message: EmailMessage) -> None:
    put = bed.put
    lines = (
        put("plain body", Kind.PERSON, "Thomasina Gale", "Dear Ms Haines, please pay {} directly."),
        put(
            "soft line break of quoted-printable",
            Kind.ADDRESS,
            "3 Old Tannery Mews, Exeter EX4 3AJ",
            "The keys to the flat can be collected, weekdays from nine to five, at {} on the day.",
        ),
        put("plain body, Chinese", Kind.BANK_CARD, card("621226120200381947"), "退款卡号：{}。"),
        repeated(bed, "plain body, repeated value"),
        put("quoted reply", Kind.PERSON, "Erasmus Holt", "> On Friday {} wrote:\r\n> > no"),
        put("signature", Kind.PHONE, "0117 496 0382", "-- \r\nLettings desk\r\nTel. {}"),
    )
    message.set_content("\r\n".join(lines) + "\r\n", cte="quoted-printable")
    page = (
        "<html><head><title>notice</title></head><body><p>"
        + put(
            "html body in base64", Kind.NATIONAL_ID, resident_id("11010819851224053"), "身份证{}，"
        )
        + "</p><p>"
        + put("html body: hidden text", Kind.PHONE, "18967153240", "<span hidden>回访{}</span>")
        + '</p><img alt="'
        + put("html body: alt text", Kind.PERSON, "Zachary Thornhill", "signature of {}")
        + '" src="cid:logo"/><a href="'
        + put(
            "html body: link with token",
            Kind.URL,
            token("mail", 40),
            "https://pay.wexcombe-lettings.co.uk/reset?token={}",
        )
        + '">pay</a></body></html>\r\n'
    )
    message.add_alternative(page, subtype="html", cte="base64")


def _attachments(bed: Bed, message: EmailMessage) -> None:
    put = bed.put
    rows = (
        ("户名", "卡号"),
        ("甲", put("workbook attached", Kind.BANK_CARD, card("621483571209364"), contextual=True)),
    )
    message.add_attachment(
        small_xlsx(rows),
        maintype="application",
        subtype=XLSX.partition("/")[2],
        filename=put("attachment name, RFC 2231", Kind.PERSON, "尉迟安宁", "{}-工资条.xlsx"),
    )
    table = put(
        "table attached", Kind.PERSON_NUMBER, "KH-20391847", "客户编号,余额\r\n{},310.50\r\n"
    )
    message.add_attachment(
        table.encode("gb18030"), maintype="text", subtype="csv", filename="balance.csv"
    )
    message.add_attachment(
        put(
            "calendar entry",
            Kind.EMAIL,
            "i.vandermeer@cobbold-legal.com",
            "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nORGANIZER;CN=Desk:mailto:{}\r\n"
            "END:VEVENT\r\nEND:VCALENDAR\r\n",
        ),
        subtype="calendar",
        filename="call.ics",
    )
    message.add_attachment(
        put(
            "contact card",
            Kind.PHONE,
            "+1-312-555-0188",
            "BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Desk\r\nTEL;TYPE=CELL:{}\r\nEND:VCARD\r\n",
        ),
        subtype="vcard",
        filename="desk.vcf",
    )


def _more_attachments(bed: Bed, message: EmailMessage) -> None:
    put = bed.put
    buffer = io.BytesIO()
    entry = zipfile.ZipInfo(
        put("file name in an archive", Kind.PERSON, "Quentin Maddox", "notes on {}.txt"),
        (2024, 1, 2, 0, 0, 0),
    )
    text = put("archive attached", Kind.SECRET, payment_key("mail"), "payments run on {} for now\n")
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(entry, text)
    message.add_attachment(
        buffer.getvalue(), maintype="application", subtype="zip", filename="notes.zip"
    )
    log = put(
        "log attached",
        Kind.SECRET,
        web_token("mail", "tenant-17"),
        "GET /v1/leases 200\nAuthorization: Bearer {}\n",
    )
    message.add_attachment(log, subtype="plain", filename="request.log", cte="base64")
    last = list(message.iter_attachments())[-1]
    last["Content-Description"] = put(
        "Content-Description", Kind.PERSON, "Selina Broughton", "log from the phone of {}"
    )


def _inner(bed: Bed) -> EmailMessage:
    put = bed.put
    inner = EmailMessage(policy=SMTP)
    inner["From"] = put("mail inside: From", Kind.EMAIL, "p.lyddon@cobbold-legal.com", "Desk <{}>")
    inner["To"] = "office@wexcombe-lettings.co.uk"
    inner["Date"] = _DATE
    inner["Subject"] = put("mail inside: Subject", Kind.PERSON, "Josephine Tarrant", "Estate of {}")
    lines = (
        put(
            "mail inside: body",
            Kind.COMPANY_CODE,
            company_code("320594", "MA27C6XH"),
            "开票信息：纳税人识别号 {}",
        ),
        put("mail inside: second line", Kind.SECRET, password("inner"), "临时密码：{} 请尽快修改"),
    )
    inner.set_content("\n".join(lines) + "\n", cte="base64")
    return inner
