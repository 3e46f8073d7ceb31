"""Count what the three scripts take, and print the table; with an environment for the peers, run
them, too:

python -m experiments.bench.journey [--run --peers PYTHON]
"""

from __future__ import annotations

import argparse
import ast
import builtins
import os
import re
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[3]
SCRIPTS = Path(__file__).parent / "scripts"
TUTORIAL = ROOT / "docs" / "tutorials" / "your-own-csv.md"
NAMES = {
    "with_privet.sh": "Privet",
    "with_dp_ebm.py": "DP-EBM",
    "with_diffprivlib.py": "diffprivlib",
}


@dataclass(frozen=True)
class Count:
    """What a script takes: commands or statements, however many lines they are laid out in."""

    to_model: int
    in_all: int
    characters: int
    #: Commands, imported names and named settings that a reader has to look up.
    words: tuple[str, ...]


def count_shell(text: str) -> Count:
    """Count commands; an option may be looked up once for each command."""
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    words: list[str] = []
    for line in lines:
        said = shlex.split(line)
        words += [" ".join(word for word in said[1:3] if re.fullmatch("[a-z]+", word))]
        words += [word for word in said if re.match("--?[a-z]", word)]
    fits = [i for i, line in enumerate(lines) if line.startswith("privet fit ")]
    return Count(fits[0] + 1, len(lines), sum(map(len, lines)), tuple(dict.fromkeys(words)))


def count_python(text: str) -> Count:
    """Count statements; names of Python itself are not looked up."""
    tree = ast.parse(text)
    words: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            words += [alias.name for alias in node.names]
        elif isinstance(node, ast.Call):
            words += [keyword.arg for keyword in node.keywords if keyword.arg]
            called = node.func
            words += [called.attr if isinstance(called, ast.Attribute) else ast.unparse(called)]
    statements = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    statements.sort(key=lambda node: node.lineno)
    fits = [i for i, node in enumerate(statements) if ast.unparse(node).startswith("model.fit(")]
    code = "".join(ast.unparse(node) for node in tree.body)
    names = tuple(word for word in dict.fromkeys(words) if word not in dir(builtins))
    return Count(fits[0] + 1, len(statements), len(code), names)


def count() -> dict[str, Count]:
    """Count all scripts."""
    return {
        name: (count_shell if file.endswith(".sh") else count_python)(
            (SCRIPTS / file).read_text(encoding="utf-8")
        )
        for file, name in NAMES.items()
    }


def write(counts: dict[str, Count]) -> str:
    """Return the table, as it stands in the tutorial."""
    measures = {
        "commands or statements to a trained model": lambda one: one.to_model,
        "with a test and what was spent": lambda one: one.in_all,
        "characters of that": lambda one: one.characters,
        "names to look up: commands, functions, settings": lambda one: len(one.words),
    }
    lines = [f"| | {' | '.join(counts)} |", f"|{'---|' * (len(counts) + 1)}"]
    for what, of in measures.items():
        lines.append(f"| {what} | {' | '.join(str(of(one)) for one in counts.values())} |")
    return "\n".join(lines)


def run(peers: str, folder: Path) -> None:
    """Run the scripts on the table of the tutorial."""
    page = TUTORIAL.read_text(encoding="utf-8")
    table = page.partition("```python\n")[2].partition("```")[0]
    subprocess.run([sys.executable, "-c", table], cwd=folder, check=True)
    beside = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for file, name in NAMES.items():
        words = ["sh", "-e"] if file.endswith(".sh") else [peers]
        sys.stdout.write(f"\n{name}\n")
        sys.stdout.flush()
        around = {**os.environ, "PATH": beside}
        subprocess.run([*words, SCRIPTS / file], cwd=folder, check=True, env=around)


def main() -> None:
    """Print the table, and run the scripts where that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", action="store_true")
    parser.add_argument("--peers", help="a Python with diffprivlib, interpret-core and pandas")
    options = parser.parse_args()
    sys.stdout.write(f"{write(count())}\n")
    if options.run:
        with tempfile.TemporaryDirectory() as folder:
            run(options.peers, Path(folder))


if __name__ == "__main__":
    main()
