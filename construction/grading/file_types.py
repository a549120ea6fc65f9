"""The file types that tasks ask for: extensions, first bytes, and what opens them.

Imports the standard library only: the sandboxed child of the hard rules uses this table too.
"""

from __future__ import annotations

from dataclasses import dataclass

_ZIP = (b"PK\x03\x04",)


@dataclass(frozen=True, slots=True)
class FileType:
    """A file type. `name` is its usual extension, without the dot.

    `kind` is document, data, code, image, media or archive. `signatures` are the possible
    first bytes; a type without any is text and must decode as such, unless it is `binary`.
    `opener` names the function of `openers` that reads it; None if nothing here can.
    """

    name: str
    kind: str
    extensions: tuple[str, ...]
    signatures: tuple[bytes, ...] = ()
    opener: str | None = None
    binary: bool = False


_TABLE = (
    FileType("xlsx", "document", ("xlsx", "xlsm"), _ZIP, "xlsx"),
    FileType("docx", "document", ("docx",), _ZIP, "docx"),
    FileType("pptx", "document", ("pptx",), _ZIP, "pptx"),
    FileType("pdf", "document", ("pdf",), (b"%PDF-",), "pdf"),
    FileType("md", "document", ("md", "markdown"), (), "text"),
    FileType("txt", "document", ("txt", "text"), (), "text"),
    FileType("html", "document", ("html", "htm"), (), "html"),
    FileType("csv", "data", ("csv",), (), "csv"),
    FileType("tsv", "data", ("tsv",), (), "csv"),
    FileType("json", "data", ("json",), (), "json"),
    FileType("jsonl", "data", ("jsonl", "ndjson"), (), "jsonl"),
    FileType("yaml", "data", ("yaml", "yml"), (), "yaml"),
    FileType("eml", "data", ("eml",), (), "mail"),
    FileType("ics", "data", ("ics",), (), "calendar"),
    FileType("srt", "data", ("srt",), (), "captions"),
    FileType("vtt", "data", ("vtt",), (), "captions"),
    FileType("toml", "data", ("toml",), (), "toml"),
    FileType("xml", "data", ("xml",), (), "xml"),
    FileType("ipynb", "code", ("ipynb",), (), "notebook"),
    FileType("py", "code", ("py",), (), "py"),
    FileType("sh", "code", ("sh", "bash"), (), "text"),
    FileType("js", "code", ("js", "mjs", "cjs", "jsx"), (), "text"),
    FileType("ts", "code", ("ts", "tsx"), (), "text"),
    FileType("css", "code", ("css",), (), "text"),
    FileType("sql", "code", ("sql",), (), "text"),
    FileType("java", "code", ("java",), (), "text"),
    FileType("go", "code", ("go",), (), "text"),
    FileType("rs", "code", ("rs",), (), "text"),
    FileType("c", "code", ("c", "h"), (), "text"),
    FileType("cpp", "code", ("cpp", "cc", "hpp"), (), "text"),
    FileType("swift", "code", ("swift",), (), "text"),
    FileType("svg", "image", ("svg",), (), "xml"),
    FileType("png", "image", ("png",), (b"\x89PNG\r\n\x1a\n",), "image"),
    FileType("jpg", "image", ("jpg", "jpeg"), (b"\xff\xd8\xff",), "image"),
    FileType("gif", "image", ("gif",), (b"GIF87a", b"GIF89a"), "image"),
    FileType("webp", "image", ("webp",), (b"RIFF",), "image"),
    FileType("mp3", "media", ("mp3",), (), None, binary=True),
    FileType("mp4", "media", ("mp4",), (), None, binary=True),
    FileType("zip", "archive", ("zip",), _ZIP, "zip"),
)

TYPES = {kind.name: kind for kind in _TABLE}
_BY_EXTENSION = {extension: kind for kind in _TABLE for extension in kind.extensions}


def extension_of(name: str) -> str:
    """The lower-case extension of a POSIX or Windows path, "" if it has none."""
    base = name.replace("\\", "/").rpartition("/")[2]
    stem, dot, extension = base.rpartition(".")
    return extension.lower() if dot and stem else ""


def type_of(name: str) -> FileType | None:
    """The known type of a file name, by its extension."""
    return _BY_EXTENSION.get(extension_of(name))
