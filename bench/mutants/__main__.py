"""Is every fault that we can think of noticed?

python -m bench.mutants                                 all mutants; a line for each, exit code 1 if one is missed
python -m bench.mutants -o docs/results/mutants.md      and the page
python -m bench.mutants -o docs/results/mutants.md --new    only those that the page does not have as caught, as they are now
python -m bench.mutants charge noise                    those with one of these words in name or file
python -m bench.mutants --jobs 4                        so many at once; two by default
"""  # noqa: E501

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

from bench.mutants.listed import MUTANTS
from bench.mutants.mutant import Mutant
from bench.mutants.report import line, lines
from bench.mutants.run import Broken, Copy, Outcome, forks


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("words", nargs="*")
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--new", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    chosen = [
        mutant
        for mutant in MUTANTS
        if not options.words
        or any(word in f"{mutant.name} {mutant.file}" for word in options.words)
    ]
    if not chosen:
        parser.error("no mutant has one of these words in its name or file")
    if options.words and options.output is not None:
        parser.error("the page is of all mutants: give no words with --output")
    if options.new and options.output is None:
        parser.error("--new compares with the page: give it with --output")
    page = (
        options.output.read_text(encoding="utf-8")
        if options.new and options.output.exists()
        else ""
    )
    known = {
        mutant: Outcome(mutant, {}, ())
        for mutant in chosen
        if line(Outcome(mutant, {}, ())) in page.splitlines()
    }
    known |= {
        outcome.mutant: outcome
        for outcome in tried([mutant for mutant in chosen if mutant not in known], options.jobs)
    }
    outcomes = [known[mutant] for mutant in chosen]
    missed = [outcome for outcome in outcomes if not outcome.caught]
    if options.output is not None:
        new = options.output.with_suffix(".new")
        new.write_text(lines(outcomes), encoding="utf-8")
        new.replace(options.output)
    print(f"{len(outcomes) - len(missed)} of {len(outcomes)} caught")
    return 1 if missed else 0


def tried(mutants: Sequence[Mutant], jobs: int) -> list[Outcome]:
    """What came of each mutant, in order; a line is printed for each. All must pass without one
    first.
    """
    begun, processes = time.monotonic(), forks()
    with (
        tempfile.TemporaryDirectory(prefix="privet-mutants-") as folder,
        ThreadPoolExecutor(jobs) as pool,
    ):
        made = [Copy(Path(folder) / str(number), processes) for number in range(jobs)]
        copies: SimpleQueue[Copy] = SimpleQueue()
        for copy in made:
            copies.put(copy)

        def one(mutant: Mutant) -> Outcome:
            copy = copies.get()
            try:
                outcome = copy.tried(mutant)
            except Broken as problem:
                outcome = Outcome(mutant, {}, (str(problem),))
            finally:
                copies.put(copy)
            said = "caught" if outcome.caught else f"MISSED by {', '.join(outcome.missed)}"
            print(
                f"{time.monotonic() - begun:5.0f} s  {mutant.file}: {mutant.name}: {said}",
                flush=True,
            )
            return outcome

        print(f"{len(mutants)} mutants; first, what must catch them is run without any", flush=True)
        for _ in pool.map(Copy.check, made, (mutants[number::jobs] for number in range(jobs))):
            pass
        return list(pool.map(one, mutants))


if __name__ == "__main__":
    raise SystemExit(main())
