"""What may be sent: typed and bounded. Binary values are texts in base64."""

from __future__ import annotations

import base64
import binascii
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictFloat, StrictInt, StrictStr

from privet.errors import ParameterError

_LARGEST = (1 << 63) - 1

StrictNatural = Annotated[StrictInt, Field(ge=0, le=_LARGEST)]
Base64 = Annotated[
    StrictStr,
    Field(
        description="Bytes in base64, standard alphabet.",
        json_schema_extra={"contentEncoding": "base64"},
    ),
]
StrictCell = StrictStr | None
StrictValue = StrictStr | StrictInt | StrictFloat | None


class Strict(BaseModel):
    """Nothing that is not named here."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class TreeToGrow(Strict):
    """How a tree is grown."""

    splits: Literal["multiway", "binary"] = "multiway"
    leaf_size: Annotated[StrictInt, Field(ge=1, le=10**9)] = 2
    max_depth: Annotated[StrictInt, Field(ge=0, le=10**6)] | None = None


class RowsToPlace(Strict):
    """Rows to be placed in a tree: cells of the identifying attributes, in the order of the
    schema.
    """

    rows: list[list[StrictValue]]


class Slice(Strict):
    """Which part of a long list."""

    after: Annotated[int, Field(ge=-1, le=_LARGEST)] = -1
    limit: Annotated[int, Field(ge=1, le=10_000)] = 1000


class PendingSlice(Slice):
    """Which of the pending objects."""

    after: Annotated[int, Field(ge=0, le=_LARGEST)] = 0


class Sealing(Strict):
    """A sealed object, and what it replaces."""

    sealed: Base64
    replaces: StrictNatural | None = Field(
        description="The version that it replaces; null where there must be none."
    )
    data: StrictNatural | None = Field(
        default=None,
        description="The data version that it was made of; refused where it is another by now.",
    )


class RowToAdd(Strict):
    """A row of the identifier table."""

    cells: list[StrictCell]
    pruning: StrictBool
    gid: StrictNatural
    eseq: Base64


class Changes(Strict):
    """What comes and goes, all of it or nothing."""

    version: StrictNatural
    id: Annotated[StrictStr, Field(pattern=r"^[0-9a-f]{32}$")] | None = Field(
        default=None,
        description=(
            "Names the change, so that it is done once however often it is sent: 32 random "
            "hexadecimal digits."
        ),
    )
    rows: list[RowToAdd] = []
    values: list[tuple[StrictNatural, StrictNatural, StrictCell]] = []
    remove_rows: list[StrictNatural] = []
    pending: list[Base64] = []
    remove_pending: list[StrictNatural] = []
    reseal: list[tuple[StrictNatural, Base64]] = []


def decode_base64(where: str, text: str) -> bytes:
    """The bytes of a text in base64."""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise ParameterError(f"{where}: must be base64") from None


def encode_base64(body: bytes) -> str:
    """Bytes as text in base64."""
    return base64.b64encode(body).decode("ascii")
