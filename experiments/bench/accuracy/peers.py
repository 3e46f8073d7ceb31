"""Runs in the peers' environment, where Privet is not: reads a request per line, writes an answer
per line.

A request names a learner, an epsilon, a file with the fold and a file for what is predicted; an
answer says how long the fit took, or what went wrong.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

#: Below one over the number of rows of every set here.
DELTA = 1e-5


def diffprivlib(epsilon: float, fold: Any) -> Any:
    from diffprivlib.models import RandomForestClassifier  # type: ignore[import-not-found]

    return RandomForestClassifier(
        n_estimators=10,
        max_depth=5,
        epsilon=epsilon,
        bounds=(fold["low"], fold["high"]),
        classes=list(range(int(fold["n_classes"]))),
        # it deals rows to trees by position, which ruins it on sorted tables such as nursery
        shuffle=True,
    )


def dp_ebm(epsilon: float, fold: Any) -> Any:
    from interpret.privacy import DPExplainableBoostingClassifier  # type: ignore[import-not-found]

    names = [f"x{i}" for i in range(len(fold["low"]))]
    return DPExplainableBoostingClassifier(
        feature_names=names,
        feature_types=["nominal" if nominal else "continuous" for nominal in fold["nominal"]],
        epsilon=epsilon,
        delta=DELTA,
        privacy_bounds={
            name: (low, high)
            for name, low, high in zip(names, fold["low"], fold["high"], strict=True)
        },
        n_jobs=1,
    )


def diffprivlib_regression(epsilon: float, fold: Any) -> Any:
    from diffprivlib.models import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    width = np.where(fold["high"] > fold["low"], fold["high"] - fold["low"], 1)
    low = fold["low"]
    return make_pipeline(
        FunctionTransformer(lambda rows: (rows - low) / width),
        LogisticRegression(epsilon=epsilon, data_norm=float(fold["norm"])),
    )


LEARNERS = {
    "diffprivlib": diffprivlib,
    "diffprivlib-regression": diffprivlib_regression,
    "dp-ebm": dp_ebm,
}
#: What is installed for each; its version is pinned in the environment.
PACKAGES = {
    "diffprivlib": "diffprivlib",
    "diffprivlib-regression": "diffprivlib",
    "dp-ebm": "interpret-core",
}


def answer(request: dict[str, Any]) -> dict[str, Any]:
    fold = np.load(request["fold"])
    model = LEARNERS[request["learner"]](request["epsilon"], fold)
    start = time.perf_counter()
    model.fit(fold["X_train"], fold["y_train"])
    seconds = time.perf_counter() - start
    chances = np.zeros((len(fold["X_test"]), int(fold["n_classes"])))
    chances[:, model.classes_.astype(int)] = model.predict_proba(fold["X_test"])
    # diffprivlib's regression divides 0 by 0 where every class is ruled out
    chances[np.isnan(chances).any(axis=1)] = 1 / chances.shape[1]
    np.savez(
        request["predicted"], guess=model.predict(fold["X_test"]).astype(np.int64), chances=chances
    )
    return {"seconds": seconds}


def serve(answer: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Answer every line of standard input until it ends."""
    warnings.simplefilter("ignore")
    replies = sys.stdout
    for line in sys.stdin:
        with contextlib.redirect_stdout(sys.stderr):  # only answers may stand on standard output
            try:
                reply = answer(json.loads(line))
            # - whatever it is, the other side must hear of it
            except Exception as error:  # noqa: BLE001
                reply = {"error": f"{type(error).__name__}: {error}"}
        replies.write(json.dumps(reply) + "\n")
        replies.flush()


if __name__ == "__main__":
    serve(answer)
