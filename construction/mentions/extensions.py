"""The project's own table of file types: media types by extension, and names without extension.

The operating system's MIME tables are not used: they differ between machines, and a release must
not (law 5).
"""

from __future__ import annotations

import re
from types import MappingProxyType


def _words(listed: str) -> list[str]:
    return listed.split()


_TOOLS = re.compile(
    r"(?:/mnt/(?:[^/]+/)?|.{0,200}/\.[\w-]+/(?:[^/]+/)?)skills/"
    r"|.{0,300}/(?:site-packages|node_modules|tool-results|\.claude/(?:plans|projects|todos))/"
)
OCTETS = "application/octet-stream"
_OOXML = "application/vnd.openxmlformats-officedocument."
_ODF = "application/vnd.oasis.opendocument."

_DOCUMENTS = {
    "docx": _OOXML + "wordprocessingml.document",
    "dotx": _OOXML + "wordprocessingml.template",
    "xlsx": _OOXML + "spreadsheetml.sheet",
    "pptx": _OOXML + "presentationml.presentation",
    "potx": _OOXML + "presentationml.template",
    "docm": "application/vnd.ms-word.document.macroEnabled.12",
    "xlsm": "application/vnd.ms-excel.sheet.macroEnabled.12",
    "xlsb": "application/vnd.ms-excel.sheet.binary.macroEnabled.12",
    "pptm": "application/vnd.ms-powerpoint.presentation.macroEnabled.12",
    "doc": "application/msword",
    "xls": "application/vnd.ms-excel",
    "ppt": "application/vnd.ms-powerpoint",
    "vsdx": "application/vnd.ms-visio.drawing",
    "odt": _ODF + "text",
    "ods": _ODF + "spreadsheet",
    "odp": _ODF + "presentation",
    "pdf": "application/pdf",
    "rtf": "application/rtf",
    "epub": "application/epub+zip",
    "pages": "application/vnd.apple.pages",
    "numbers": "application/vnd.apple.numbers",
    "key": "application/vnd.apple.keynote",
    "wps": "application/vnd.ms-works",
    "et": "application/vnd.ms-excel",
    "dps": "application/vnd.ms-powerpoint",
    "tex": "application/x-tex",
    "md": "text/markdown",
    "markdown": "text/markdown",
    "mdx": "text/markdown",
    "rst": "text/x-rst",
    "txt": "text/plain",
    "log": "text/plain",
    "eml": "message/rfc822",
    "msg": "application/vnd.ms-outlook",
    "ics": "text/calendar",
    "vcf": "text/vcard",
    "srt": "application/x-subrip",
    "vtt": "text/vtt",
    "bib": "text/x-bibtex",
}
_DATA = {
    "csv": "text/csv",
    "tsv": "text/tab-separated-values",
    "json": "application/json",
    "jsonl": "application/x-ndjson",
    "ndjson": "application/x-ndjson",
    "geojson": "application/geo+json",
    "gpx": "application/gpx+xml",
    "kml": "application/vnd.google-earth.kml+xml",
    "ipynb": "application/x-ipynb+json",
    "xml": "application/xml",
    "xsd": "application/xml",
    "yaml": "application/yaml",
    "yml": "application/yaml",
    "toml": "application/toml",
    "ini": "text/plain",
    "cfg": "text/plain",
    "conf": "text/plain",
    "properties": "text/plain",
    "parquet": "application/vnd.apache.parquet",
    "feather": "application/vnd.apache.arrow.file",
    "arrow": "application/vnd.apache.arrow.file",
    "avro": "application/avro",
    "db": "application/vnd.sqlite3",
    "sqlite": "application/vnd.sqlite3",
    "sqlite3": "application/vnd.sqlite3",
    "duckdb": OCTETS,
    "npy": OCTETS,
    "npz": "application/zip",
    "pkl": OCTETS,
    "pickle": OCTETS,
    "h5": "application/x-hdf5",
    "hdf5": "application/x-hdf5",
    "sav": OCTETS,
    "dta": OCTETS,
    "dat": OCTETS,
    "mat": OCTETS,
    "nc": "application/netcdf",
    "rds": OCTETS,
    "rdata": OCTETS,
    "sas7bdat": OCTETS,
    "dbf": OCTETS,
    "shp": OCTETS,
    "fasta": "text/plain",
    "fastq": "text/plain",
    "bin": OCTETS,
    "har": "application/json",
    "pcap": "application/vnd.tcpdump.pcap",
}
_PICTURES = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "bmp": "image/bmp",
    "tif": "image/tiff",
    "tiff": "image/tiff",
    "heic": "image/heic",
    "svg": "image/svg+xml",
    "ico": "image/x-icon",
    "psd": "image/vnd.adobe.photoshop",
    "ai": "application/postscript",
    "eps": "application/postscript",
    "drawio": "application/xml",
    "xmind": "application/vnd.xmind.workbook",
    "dwg": "image/vnd.dwg",
    "dxf": "image/vnd.dxf",
}
_SOUND_AND_FILM = {
    "mp3": "audio/mpeg",
    "wav": "audio/wav",
    "m4a": "audio/mp4",
    "ogg": "audio/ogg",
    "opus": "audio/ogg",
    "flac": "audio/flac",
    "amr": "audio/amr",
    "mp4": "video/mp4",
    "mov": "video/quicktime",
    "avi": "video/x-msvideo",
    "mkv": "video/x-matroska",
    "webm": "video/webm",
}
_ARCHIVES = {
    "zip": "application/zip",
    "tar": "application/x-tar",
    "tar.gz": "application/gzip",
    "tgz": "application/gzip",
    "gz": "application/gzip",
    "tar.bz2": "application/x-bzip2",
    "bz2": "application/x-bzip2",
    "tar.xz": "application/x-xz",
    "xz": "application/x-xz",
    "zst": "application/zstd",
    "7z": "application/x-7z-compressed",
    "rar": "application/vnd.rar",
    "jar": "application/java-archive",
    "whl": "application/zip",
    "apk": "application/vnd.android.package-archive",
}
_CODE = _words(
    "py pyi js jsx mjs cjs ts tsx vue svelte css scss less java kt kts scala go rs c h cc cpp cxx "
    "hpp cs swift m mm rb php pl lua r jl dart ex exs erl hs clj fs vb vba bas sql sh bash zsh "
    "fish ps1 bat cmd gradle cmake proto graphql prisma tf hcl j2 tmpl lock diff patch"
)
_PAGES = {"html": "text/html", "htm": "text/html", "xhtml": "application/xhtml+xml"}
# Listed so that mentions are recognised; the safety check refuses the files that hold secrets.
_KEYS = dict.fromkeys(
    ("env", "pem", "p12", "pfx", "jks", "keystore", "kdbx", "kdb", "ppk", "asc", "crt", "cer"),
    OCTETS,
)

CODE_EXTENSIONS = frozenset(_CODE)

MEDIA_TYPES = MappingProxyType(
    {
        **_DOCUMENTS,
        **_DATA,
        **_PICTURES,
        **_SOUND_AND_FILM,
        **_ARCHIVES,
        **_PAGES,
        **_KEYS,
        **dict.fromkeys(_CODE, "text/plain"),
    }
)

# Also the ends of domain names, words or object members: such a token counts as a file only if
# the sentence says so or if a folder precedes it.
DOUBTFUL_EXTENSIONS = frozenset(
    _words("ai pl et key pages numbers env m r lock dat msg mm ex conf bin asc")
)

# Files recognised by their whole name.
BARE_NAMES = frozenset(
    {"Dockerfile", "Makefile", "Jenkinsfile", "Procfile", "Gemfile", "Vagrantfile", "Rakefile"}
)

# Products and object members that only look like files (lower case).
NOT_FILES = frozenset(
    _words(
        "node.js vue.js next.js nuxt.js react.js three.js d3.js express.js angular.js ember.js "
        "backbone.js chart.js moment.js discord.js p5.js alpine.js nest.js socket.js electron.js "
        "deno.js bun.js ext.js knockout.js meteor.js phaser.js babylon.js tensorflow.js day.js "
        "lodash.js underscore.js require.js pdf.js video.js hexo.js koa.js handlebars.js "
        "console.log math.log np.log numpy.log torch.log self.log logger.log logging.log "
        "response.json request.json req.json res.json resp.json r.json request.body.json "
        "response.text system.out.log process.env import.meta.env os.env asp.net draw.io "
        "llama.cpp whisper.cpp ggml.cpp fast.ai character.ai x.ai open.ai c3.ai"
    )
)

# Names that every project has. People ask about them in general, and a search by name alone would
# match too many files.
COMMON_NAMES = frozenset(
    _words(
        "readme.md readme.txt package.json package-lock.json requirements.txt robots.txt "
        "sitemap.xml pyproject.toml setup.py setup.cfg tsconfig.json cargo.toml go.mod pom.xml "
        "build.gradle docker-compose.yml docker-compose.yaml index.html index.js index.ts main.py "
        "main.js main.ts app.py app.js app.ts utils.py __init__.py config.json config.yaml "
        "config.yml config.toml settings.json settings.py manifest.json web.config license.txt "
        "license.md changelog.md contributing.md agents.md claude.md makefile dockerfile "
        ".gitignore .env .dockerignore .editorconfig .npmrc .bashrc .zshrc cmakelists.txt "
        "nginx.conf my.cnf skill.md memory.md"
    )
)

MESSAGES = frozenset(("eml", "msg", "ics"))


def extension(name: str) -> str:
    """The known extension of a file name in lower case without the dot, "" if none is known."""
    stem, dot, last = name.lower().rpartition(".")
    if not dot or last not in MEDIA_TYPES:
        return ""
    _, dot, before = stem.rpartition(".")
    double = f"{before}.{last}"
    return double if dot and double in MEDIA_TYPES else last


def media_type(name: str) -> str:
    """The media type for a file name; `OCTETS` if its extension is not in the table."""
    return MEDIA_TYPES.get(extension(name), OCTETS)


def path_parts(path: str) -> list[str]:
    """The components of a path, case-folded, whichever slash divides them."""
    return path.casefold().replace("\\", "/").split("/")


def is_tool(path: str) -> bool:
    """Does a file lie in a folder of the agent's program, or in an installed package?"""
    return _TOOLS.match(path) is not None


def path_words(path: str) -> list[str]:
    """The words of a path, case-folded; empty ones stand for signs at its ends."""
    return re.split(r"[\W_]+", path.casefold())


def tail(path: str) -> str:
    """The last component of a path, case-folded."""
    return path_parts(path)[-1]


_BETWEEN_WORDS = re.compile(r"[\s_-]+")
_SAME_KIND = {
    "xls": "xlsx",
    "doc": "docx",
    "ppt": "pptx",
    "jpeg": "jpg",
    "htm": "html",
    "yml": "yaml",
}


def spelling(name: str) -> str:
    """A file's name without capitals and signs between words, its ending by its kind.

    Two names with the same spelling are of one file, where nothing is named so to the letter.
    """
    stem, dot, ending = name.casefold().rpartition(".")
    plain = _BETWEEN_WORDS.sub("", stem) or stem
    return f"{plain}{dot}{_SAME_KIND.get(ending, ending)}"
