"""Every target by its name."""

from __future__ import annotations

from importlib import import_module

from tests.fuzz.target import Target

_MODULES = {
    "schema": "schema_files:SchemaFiles",
    "model": "model_files:ModelFiles",
    "csv": "tables:CsvTables",
    "parquet": "tables:ParquetTables",
    "curator-http": "http:CuratorRequests",
    "outsource-http": "http:OutsourceRequests",
    "ciphertext": "sealed_texts:Ciphertexts",
    "sealed-tree": "sealed_texts:SealedTrees",
    "key": "sealed_texts:KeyFiles",
    "ledger": "ledgers:LedgerFiles",
    "plan": "plans:Plans",
    "merge": "plans:Merges",
    "federation": "plans:Messages",
    "randomizer": "local_records:RandomizerFiles",
    "reports": "local_records:Reports",
    "records": "local_records:Records",
    "curator-replies": "replies:CuratorReplies",
    "outsource-replies": "replies:OutsourceReplies",
    "halves": "folders:HalvesFolders",
    "home": "folders:CuratorHomes",
    "resume": "resumed:ResumeFiles",
    "anonymity": "anonymity:AnonymityTables",
    "arguments": "arguments:Arguments",
    "receipt": "ledgers:Receipts",
    "witness": "ledgers:Witnesses",
}
NAMES = tuple(_MODULES)


def target_called(name: str) -> type[Target]:
    """A target; only what it needs is imported."""
    module, cls = _MODULES[name].split(":")
    found: type[Target] = getattr(import_module(f"tests.fuzz.targets.{module}"), cls)
    assert found.name == name
    return found
