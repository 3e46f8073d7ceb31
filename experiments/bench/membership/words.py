"""What the page says around its tables."""

from __future__ import annotations

INTRODUCTION = """# Who was in the table? A membership attack on released models

Made by `python -m experiments.bench.membership`; the counts are in [membership.csv](membership.csv). {verdict}

**The game.** A table of 80 rows ({data}) is known to the attacker, and eight more rows are in it or not, each by a coin of its own: four
*ordinary* ones, and four *planted* ones, whose class is the rarest that is not their own. {models} models are attacked for each private
learner, epsilon and data set, and {open_models} where nothing is promised; {shadows} more are shadow models, of which the attacker knows
who was in. The attacker knows all other rows, too, and sees of a model what its file has: probabilities, leaves, the numbers in them. For
each target a logistic regression learns from the shadow models how a model looks that was trained with it: a likelihood-ratio attack like
LiRA (Carlini and others 2022).

**The bound.** Epsilon for one row added or removed says that at every threshold TPR <= e^epsilon FPR and 1 - FPR <= e^epsilon (1 - TPR),
where TPR is the share of members who are found, and FPR that of others who are taken for members. So TPR - FPR, the advantage over a
coin, is at most (e^epsilon - 1)/(e^epsilon + 1). This holds for each target with all other rows given, and so for all of them together.

![True positive rate over false positive rate, both on a log scale](membership.svg)

Curves are over all targets and data sets. Grey is what epsilon allows. On the left there are few false positives, and chance moves a curve.

**What this says.** An attacker who knows all other rows and looks into leaves finds every member where counts are exact, ordinary rows
no less than planted ones. With a promise the same attack is bounded: the largest area under a curve below is {areas}. An attack that
finds little proves little, though; [the audit](../concepts/audit.md) has worse worlds and more runs.

"""  # noqa: E501

AREAS = """## All targets

The area under the ROC curve (a coin has .5) for ordinary and planted rows, and the true positive rate of all of them at a false positive
rate of 1%. Means over data sets, without intervals: the targets of one model share its noise. For a private learner that rate rests on
about {mistaken} false positives, so that chance alone lifts some above what is allowed.

"""  # noqa: E501

EVENTS = """
## The most telling target

For each attack one target and one threshold were chosen on the shadow models, and counted on the attacked ones: one test. Intervals are
Clopper-Pearson. Those of private learners are at {each} each, so that all of them hold together with a confidence of {all}; the
others are at {all} each. The last column is the epsilon that is shown at least; 0 means that so few models show nothing. Of the
targets and thresholds that one was chosen where TPR - FPR on the shadow models was most standard deviations from nothing. (In a first run
it was that of the largest ratio, which often told nothing; all promises held there, too.)

"""  # noqa: E501
