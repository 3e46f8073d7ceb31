"""AIM and MST on the graphical models of mbi: run in an environment of its own, never imported.

python peers.py IN.npz OUT.npz, where IN holds ``codes`` (attributes x rows, the class last),
``sizes``, ``rho``, ``rows``, ``peer`` and ``seed``; OUT holds ``codes`` and ``seconds``.

Written from the papers, not from their authors' code: MST (McKenna, Miklau and Sheldon 2021,
section 3) and AIM (McKenna, Mullins, Sheldon and Miklau 2022, algorithms 2 to 4). Estimation and
the drawing of rows are mbi's own. What differs from the papers: AIM's workload is all pairs of
columns, each together with the class as well, which is what Privet may measure; its model may take
``SIZE`` megabytes; and a round of estimation has ``STEPS`` steps that begin where the last one
ended. Noise is NumPy's: these are measurements on public tables, never releases.
"""

from __future__ import annotations

import itertools
import sys
import time
import warnings

import numpy as np

warnings.filterwarnings("ignore")

import jax  # noqa: E402

jax.config.update("jax_enable_x64", True)

import mbi  # noqa: E402

#: Steps of the estimation of AIM's rounds and of a last model, and the largest model in megabytes.
STEPS, LAST_STEPS, SIZE = 100, 1000, 2.0


def count(codes: np.ndarray, sizes: list[int], columns: tuple[int, ...]) -> np.ndarray:
    """Return the counts of a marginal, flat."""
    shape = [sizes[a] for a in columns]
    flat = np.ravel_multi_index([codes[a] for a in columns], shape)
    return np.bincount(flat, minlength=int(np.prod(shape))).astype(float)


def estimate(domain, measured, steps, before=None, total=None):
    """Fit mbi's model to noisy marginals; by default they say how many rows there are, too."""
    return mbi.estimation.MirrorDescent().estimate(
        domain, measured, known_total=total, iters=steps, warm_start=before, tol=1e-6
    )


def expect(model, columns: tuple[int, ...]) -> np.ndarray:
    """Return the counts of a marginal that a model expects, flat."""
    factors = model.potentials
    operands: list = []
    for clique in factors.cliques:
        values = np.asarray(factors[clique].values)
        operands += [np.exp(values - values.max()), list(clique)]
    table = np.einsum(*operands, list(columns), optimize="greedy").ravel()
    return table * float(model.total) / table.sum()


def draw(model, rows: int, n_columns: int) -> np.ndarray:
    """Draw rows as mbi does."""
    data = model.synthetic_data(rows=rows)
    return np.stack([np.asarray(data.data[a]) for a in range(n_columns)]).astype(np.int64)


def choose(rng, scores: np.ndarray, epsilon: float, sensitivity: float) -> int:
    """Choose by the exponential mechanism."""
    logits = epsilon * np.asarray(scores) / (2 * sensitivity)
    return int(np.argmax(logits + rng.gumbel(size=len(logits))))


def compress(codes, sizes, singles, sigma):
    """Merge the values of each column that are rarer than three deviations of their noise."""
    mapped, new_sizes, back = [], [], []
    for column, size, noisy in zip(codes, sizes, singles, strict=True):
        kept = np.flatnonzero(noisy >= 3 * sigma)
        rest = np.setdiff1d(np.arange(size), kept)
        mapping = np.full(size, len(kept))
        mapping[kept] = np.arange(len(kept))
        mapped.append(mapping[column])
        new_sizes.append(len(kept) + (len(rest) > 0))
        back.append([np.array([value]) for value in kept] + ([rest] if len(rest) else []))
    return np.stack(mapped), new_sizes, back


def run_mst(codes, sizes, rho, rows, rng):
    """Measure single columns, choose a spanning tree of pairs, measure it."""
    d = len(sizes)
    sigma = np.sqrt(d / (2 * rho / 3))
    first = [count(codes, sizes, (a,)) for a in range(d)]
    singles = [table + rng.normal(0, sigma, table.size) for table in first]
    small, small_sizes, back = compress(codes, sizes, singles, sigma)
    domain = mbi.Domain(range(d), small_sizes)
    # mbi takes no number of rows from scaled counts
    total = float(np.average([table.sum() for table in singles], weights=1 / np.array(sizes)))
    measured = []
    for a in range(d):
        noisy = np.array([singles[a][values].sum() for values in back[a]])
        spread = np.sqrt([len(values) for values in back[a]])
        # a merged value has the noise of all its values: scaled, all entries have the same
        query = mbi.WeightedQuery(1 / spread)
        measured.append(mbi.LinearMeasurement(noisy / spread, (a,), float(sigma), query))
    model = estimate(domain, measured, LAST_STEPS, total=total)
    pairs = list(itertools.combinations(range(d), 2))
    scores = {}
    single = [expect(model, (a,)) for a in range(d)]
    for a, b in pairs:
        expected = np.outer(single[a], single[b]).ravel() / total
        scores[a, b] = np.abs(count(small, small_sizes, (a, b)) - expected).sum()
    part, chosen = list(range(d)), []
    epsilon = np.sqrt(8 * (rho / 3) / (d - 1))
    for _ in range(d - 1):
        offered = [pair for pair in pairs if part[pair[0]] != part[pair[1]]]
        pair = offered[choose(rng, np.array([scores[one] for one in offered]), epsilon, 1.0)]
        chosen.append(pair)
        part = [part[pair[0]] if one == part[pair[1]] else one for one in part]
    sigma = np.sqrt((d - 1) / (2 * rho / 3))
    for pair in chosen:
        table = count(small, small_sizes, pair)
        noisy = table + rng.normal(0, sigma, table.size)
        measured.append(mbi.LinearMeasurement(noisy, pair, float(sigma)))
    model = estimate(domain, measured, LAST_STEPS, total=total)
    drawn = draw(model, rows, d)
    out = np.empty_like(drawn)
    for a in range(d):
        for code, values in enumerate(back[a]):
            mine = drawn[a] == code
            out[a, mine] = rng.choice(values, mine.sum())
    return out


def run_aim(codes, sizes, rho, rows, rng):
    """Measure, round by round, the marginal that the model knows worst for what it costs."""
    d = len(sizes)
    label = d - 1
    workload = [tuple(pair) for pair in itertools.combinations(range(d), 2)]
    workload += [(a, b, label) for a, b in itertools.combinations(range(d - 1), 2)]
    candidates = {
        tuple(part): float(sum(len(set(part) & set(whole)) for whole in workload))
        for whole in workload
        for n in range(1, len(whole) + 1)
        for part in itertools.combinations(whole, n)
    }
    exact = {columns: count(codes, sizes, columns) for columns in candidates}
    rounds = 16 * d
    sigma, epsilon = np.sqrt(rounds / (2 * 0.9 * rho)), np.sqrt(8 * 0.1 * rho / rounds)
    domain, measured, spent = mbi.Domain(range(d), sizes), [], 0.0
    for a in range(d):
        noisy = exact[a,] + rng.normal(0, sigma, sizes[a])
        measured.append(mbi.LinearMeasurement(noisy, (a,), float(sigma)))
        spent += 0.5 / sigma**2
    model = estimate(domain, measured, STEPS)
    last = False
    while not last:
        if rho - spent < 2 * (0.5 / sigma**2 + epsilon**2 / 8):
            remaining = max(rho - spent, 1e-12)
            sigma, epsilon = np.sqrt(1 / (2 * 0.9 * remaining)), np.sqrt(8 * 0.1 * remaining)
            last = True
        spent += 0.5 / sigma**2 + epsilon**2 / 8
        limit = SIZE * min(spent / rho, 1.0)
        cliques = [one.clique for one in measured]
        offered = [
            columns
            for columns in candidates
            if columns in cliques
            or mbi.junction_tree.hypothetical_model_size(domain, [*cliques, columns]) <= limit
        ]
        scores = [
            candidates[columns]
            * (
                np.abs(exact[columns] - expect(model, columns)).sum()
                - np.sqrt(2 / np.pi) * sigma * exact[columns].size
            )
            for columns in offered
        ]
        largest = max(candidates[columns] for columns in offered)
        columns = offered[choose(rng, np.array(scores), epsilon, largest)]
        noisy = exact[columns] + rng.normal(0, sigma, exact[columns].size)
        measured.append(mbi.LinearMeasurement(noisy, columns, float(sigma)))
        before = expect(model, columns)
        model = estimate(domain, measured, LAST_STEPS if last else STEPS, model)
        moved = np.abs(expect(model, columns) - before).sum()
        if moved <= sigma * np.sqrt(2 / np.pi) * before.size:
            sigma, epsilon = sigma / 2, epsilon * 2
    return draw(model, rows, d)


def main() -> None:
    given = np.load(sys.argv[1])
    seed = int(given["seed"])
    np.random.seed(seed)
    start = time.perf_counter()
    run = {"mst": run_mst, "aim": run_aim}[str(given["peer"])]
    codes = run(
        given["codes"],
        given["sizes"].tolist(),
        float(given["rho"]),
        int(given["rows"]),
        np.random.default_rng(seed),
    )
    np.savez(sys.argv[2], codes=codes, seconds=time.perf_counter() - start)


if __name__ == "__main__":
    main()
