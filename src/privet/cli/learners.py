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
#: Parameters that have options of their own, or none on the command line.
_NOT_SET = {"epsilon", "schema", "random_state"}


def learner_named(name: str, epsilon: str, settings: list[str]) -> PrivateClassifier:
    """Return a learner with its settings, each given as NAME=VALUE."""
    from privet import learners
    from privet.checks import check_name, suggest

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
    kind = kinds[check_name("--learner", name, kinds)]
    called = "the default learner" if name == NAMES[0] else f"the {name} learner"
    allowed = sorted(set(kind().get_params()) - _NOT_SET)
    chosen: dict[str, Any] = {}
    for setting in settings:
        key, equals, text = setting.partition("=")
        key = key.replace("-", "_")
        if not equals:
            raise ParameterError(
                f"--set {setting}: write it as NAME=VALUE; {called} takes: {', '.join(allowed)}"
            )
        if key not in allowed:
            meant = suggest(key, allowed)
            raise ParameterError(
                f"--set {setting}: {called} has no setting {key!r}; it takes: {', '.join(allowed)}"
                + (f"; {meant}" if meant else "")
            )
        chosen[key] = _read_value(text)
        if key in kind._parameters:
            kind._parameters[key].check(key, chosen[key], f"--set {setting}")
    learner: PrivateClassifier = kind(epsilon, **chosen)
    return learner


def _read_value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
