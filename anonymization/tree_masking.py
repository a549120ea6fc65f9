"""Masking of the tree of a repository: its files and what was said of it, with one vault.

What cannot be masked is left out; whether the tests still decide is proven on what is left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath

from anonymization.documents.document import learn, mask_bytes, masked_path, pieces_in
from anonymization.documents.scopes import detector
from anonymization.session_masking import VAULTS, MaskJob, vault_name
from anonymization.session_texts import masked_text
from anonymization.text.masking.masker import Masker
from anonymization.text.masking.pieces import Piece

Named = tuple[str, str]  # the path of a file, and the name of its content


def mask_tree(
    texts: Sequence[str], files: Mapping[Named, bytes], job: MaskJob, scope: str, out: Path
) -> tuple[list[str], dict[Named, tuple[str, bytes]]]:
    """Masked texts, and the path and content of each file that can be masked.

    Everything is learned before anything is changed; what is undecided is masked, since nobody is
    asked about the words of a tree. The vault is kept below `out`.
    """
    config = job.config
    finder, key, mode = detector(config.detection), job.key, config.mode
    masker = Masker(finder, key, mode, scope, job.listed, masks_undecided=True)
    learn(
        [
            *(pieces_in(content, path, config.documents) for (path, _), content in files.items()),
            [Piece(text) for text in texts],
        ],
        masker,
    )
    masked = {}
    for (path, name), content in files.items():
        target = masked_path(PurePath(path), masker).as_posix()
        made = mask_bytes(content, path, masker, config.documents, target)
        masker.vault.drop_document(target)
        if made.report.refusal is None:
            masked[path, name] = target, made.data
    masker.vault.save(out / VAULTS / f"{vault_name(key, scope)}.json", key)
    return [masked_text(text, masker, job.find_names) for text in texts], masked
