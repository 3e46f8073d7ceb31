"""Nobody has made the golden files again."""

from __future__ import annotations

import hashlib

from tests.golden.files import GOLDEN, read_json


def test_golden_files_are_what_version_0_1_wrote() -> None:
    kept = read_json(GOLDEN / "manifest.json")
    files = {path.relative_to(GOLDEN).as_posix(): path for path in GOLDEN.rglob("*")}
    found = {
        name: hashlib.sha256(path.read_bytes()).hexdigest()
        for name, path in files.items()
        if path.is_file() and name != "manifest.json"
    }
    assert found == kept, "files of 0.1 stand for what users have; a later version adds a folder"


def test_the_manifest_itself_is_unchanged() -> None:
    digest = hashlib.sha256((GOLDEN / "manifest.json").read_bytes()).hexdigest()
    assert digest == "bfab12954879e2b65448c1d78d1a8895636b4f11ed8dbcffe40a7ae092fcdab0"
