"""Schema files."""

from __future__ import annotations

import json

from privet.datasets import load
from privet.domain import Categorical, Numeric, Schema
from tests.fuzz.target import Target


class SchemaFiles(Target):
    """What was read can be written, and reads back the same."""

    name = "schema"
    what = "schema files; what is taken is written and reads back the same"

    def corpus(self) -> list[bytes]:
        attributes = {
            "form": Categorical(["complete", "foster"]),
            "age": Numeric(17, 90, bins=16),
            "income": Numeric(1, 1e6, bins=8, spacing="log", missing="not told"),
            "size": Numeric(edges=[0, 10, 100.5]),
            "colour": Categorical(["red", "grey"], other="grey"),
        }
        facts = {"n_rows": 100, "person": "who", "rows_per_person": 3, "neighbours": "replace"}
        schemas = [
            Schema(attributes, "ill", ["no", "yes"]),
            Schema(attributes, "ill", [0, 1, 2], **facts),
            load("car").schema,
        ]
        return [json.dumps(schema.to_json()).encode() for schema in schemas]

    def run(self, data: bytes) -> None:
        path = self.folder / "input.json"
        path.write_bytes(data)
        schema = Schema.read(path)
        written = self.out / "schema.json"
        schema.write(written)
        again = Schema.read(written)
        assert again == schema
        assert again.fingerprint == schema.fingerprint
