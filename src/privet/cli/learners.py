"""The learners by the names that the command line has for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from privet.errors import ParameterError

if TYPE_CHECKING:
    from privet.learners.base import PrivateClassifier

NAMES = (
    "privet",
    "gibbs-tree",
    "gibbs-boost",
    "random-trees",
    "greedy-tree",
    "forest",
    "noisy-id3",
    "additive",
)


def learner_named(name: str, epsilon: str, settings: list[str]) -> PrivateClassifier:
    """A learner with its settings, each given as NAME=VALUE."""
    from privet import learners

    kinds: dict[str, Any] = {
        "privet": learners.PrivetClassifier,
        "gibbs-tree": learners.GibbsTreeClassifier,
        "gibbs-boost": learners.GibbsBoostClassifier,
        "random-trees": learners.RandomTreesClassifier,
        "greedy-tree": learners.GreedyTreeClassifier,
        "forest": learners.ForestClassifier,
        "noisy-id3": learners.NoisyID3Classifier,
        "additive": learners.AdditiveClassifier,
    }
    if name not in kinds:
        raise ParameterError(f"learner must be one of {', '.join(kinds)}, got {name!r}")
    kind = kinds[name]
    allowed = sorted(set(kind().get_params()) - {"epsilon", "schema", "random_state"})
    chosen: dict[str, Any] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        key = key.replace("-", "_")
        if not equals or key not in allowed:
            raise ParameterError(
                f"--set takes NAME=VALUE with a name out of {', '.join(allowed)}; got {setting!r}"
            )
        chosen[key] = _value(value)
    learner: PrivateClassifier = kind(epsilon, **chosen)
    return learner


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
