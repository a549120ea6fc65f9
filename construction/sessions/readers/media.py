"""Pictures and sound as logs hold them: inline, as a file's path, or as an address."""

from __future__ import annotations

import re

from data.contracts import Attachment

# Media on the web are an address that the person gave: text for the readers, not a file.
WEB = ("http://", "https://")
_DATA_URL = re.compile(r"data:([^;,]{0,100})(?:;[^;,]{0,100})*?;base64,")


def inline_media(url: str) -> Attachment:
    """A `data:` URL as inline media, any other text as the path that it is."""
    match = _DATA_URL.match(url)
    if match is None:
        return Attachment(url)
    return Attachment(None, match[1] or None, url[match.end() :])
