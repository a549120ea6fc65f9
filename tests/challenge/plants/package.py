"""Parts of an office file that the office libraries do not write, added by hand."""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from xml.sax.saxutils import escape, quoteattr

from PIL import Image
from PIL.PngImagePlugin import PngInfo

TYPES = "[Content_Types].xml"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006"
REL = OFFICE + "/relationships"
_RELS_NS = "http://schemas.openxmlformats.org/package/2006/relationships"
_EPOCH = (2024, 1, 2, 0, 0, 0)
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_CUSTOM_NS = OFFICE + "/custom-properties"
_MODIFIED = re.compile(rb"(<dcterms:modified[^>]*>)[^<]*(<)")
_CREATED = re.compile(rb"(<dcterms:created[^>]*>)[^<]*(<)")
_CORE = "docProps/core.xml"


class Package:
    """The parts of an office file, by name."""

    def __init__(self, data: bytes) -> None:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            self.parts = {name: archive.read(name) for name in archive.namelist()}
        self._relations = 0

    def add(self, name: str, xml: str, content_type: str) -> None:
        """A new XML part with its content type."""
        self.parts[name] = (_HEAD + xml).encode()
        self._declare(f'<Override PartName="/{name}" ContentType="{content_type}"/>')

    def add_binary(self, name: str, data: bytes, content_type: str) -> None:
        """A new part that is not XML."""
        self.parts[name] = data
        self._declare(f'<Override PartName="/{name}" ContentType="{content_type}"/>')

    def replace(self, name: str, old: str, new: str) -> None:
        """Put `new` where `old` first stands; `old` must be there."""
        text = self.parts[name].decode()
        assert old in text, (name, old)
        self.parts[name] = text.replace(old, new, 1).encode()

    def before(self, name: str, mark: str, new: str) -> None:
        """Put `new` before the last `mark` of a part."""
        head, actual, tail = self.parts[name].decode().rpartition(mark)
        assert actual, (name, mark)
        self.parts[name] = (head + new + mark + tail).encode()

    def relate(self, source: str, kind: str, target: str, *, external: bool = False) -> str:
        """A relation from a part (`""`: the whole file); its id. Targets are part names."""
        folder, name = posixpath.split(source)
        rels = posixpath.join(folder, "_rels", name + ".rels")
        self.parts.setdefault(rels, f'<Relationships xmlns="{_RELS_NS}"></Relationships>'.encode())
        self._relations += 1
        ident = f"rIdX{self._relations}"
        where = quoteattr(target if external else "/" + target)
        mode = ' TargetMode="External"' if external else ""
        kind = kind if "://" in kind else f"{REL}/{kind}"
        self.before(
            rels,
            "</Relationships>",
            f'<Relationship Id="{ident}" Type="{kind}" Target={where}{mode}/>',
        )
        return ident

    def custom_property(self, name: str, value: str) -> None:
        """A custom document property; the file must have none yet."""
        self.add(
            "docProps/custom.xml",
            f'<Properties xmlns="{_CUSTOM_NS}" xmlns:vt="{OFFICE}/docPropsVTypes">'
            f'<property fmtid="{{D5CDD505-2E9C-101B-9397-08002B2CF9AE}}" pid="2" '
            f"name={quoteattr(name)}><vt:lpwstr>{escape(value)}</vt:lpwstr></property>"
            "</Properties>",
            "application/vnd.openxmlformats-officedocument.custom-properties+xml",
        )
        self.relate("", "custom-properties", "docProps/custom.xml")

    def app_properties(self, manager: str, company: str) -> None:
        """The extended properties, in place of those the library wrote."""
        xml = (
            f'<Properties xmlns="{OFFICE}/extended-properties">'
            f"<Manager>{escape(manager)}</Manager><Company>{escape(company)}</Company>"
            "</Properties>"
        )
        self.parts["docProps/app.xml"] = (_HEAD + xml).encode()

    def thumbnail(self, comment: str) -> None:
        """A preview picture with a comment in it, in place of any preview the library wrote."""
        name = "docProps/thumbnail.jpeg"
        if name not in self.parts:
            self._declare('<Default Extension="jpeg" ContentType="image/jpeg"/>')
            kind = "http://schemas.openxmlformats.org/package/2006/relationships/metadata/thumbnail"
            self.relate("", kind, name)
        self.parts[name] = jpeg(comment)

    def save(self) -> bytes:
        """The file; the same parts always give the same bytes."""
        core = self.parts[_CORE]
        core = _MODIFIED.sub(rb"\g<1>2024-11-18T09:00:00Z\2", core)
        self.parts[_CORE] = _CREATED.sub(rb"\g<1>2024-11-18T09:00:00Z\2", core)
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            for name in sorted(self.parts, key=lambda name: (name != TYPES, name)):
                info = zipfile.ZipInfo(name, _EPOCH)
                info.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(info, self.parts[name])
        return buffer.getvalue()

    def _declare(self, entry: str) -> None:
        mark = "<Override" if entry.startswith("<Default") else "</Types>"
        text = self.parts[TYPES].decode()
        self.parts[TYPES] = text.replace(mark, entry + mark, 1).encode()


def jpeg(comment: str) -> bytes:
    """A small picture with a comment segment."""
    buffer = io.BytesIO()
    Image.new("RGB", (48, 36), (208, 220, 232)).save(buffer, "JPEG", comment=comment.encode())
    return buffer.getvalue()


def png(text: str) -> bytes:
    """A small picture with a text chunk."""
    chunks = PngInfo()
    chunks.add_itxt("Description", text, "en", "Description")
    buffer = io.BytesIO()
    Image.new("RGB", (48, 36), (232, 214, 208)).save(buffer, "PNG", pnginfo=chunks)
    return buffer.getvalue()
