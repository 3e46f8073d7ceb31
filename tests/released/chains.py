"""Everything the command can release, as lines that are really run; and what it writes that is no
release, with the reason.
"""

from __future__ import annotations

from tests.released.canaries import EPSILON

_TABLE = ("{home}/people.parquet", "--schema", "{home}/people.schema.json")
#: Beside another relation of neighbours, in a ledger of its own.
_BY_PERSON = (
    *("{home}/people.parquet", "--schema", "{home}/person.schema.json"),
    *("--ledger", "{home}/person.ledger.sqlite", "--budget", "1"),
)
_PAID = ("--epsilon", EPSILON)
_REPLACED = ("--schema", "{home}/replaced.schema.json", "--epsilon", "1/1000")
#: Settings by which a learner has something to tell, however small epsilon is: leaves, and their
#: counts as they were answered.
SETTINGS: dict[str, tuple[str, ...]] = {
    "privet": (),
    "gibbs-tree": ("max_depth=2",),
    "gibbs-boost": ("rounds=2", "max_depth=1"),
    "random-trees": ("n_trees=2", "height=2"),
    "greedy-tree": ("max_depth=2", "shrink=0"),
    "forest": ("n_trees=2", "max_depth=2", "shrink=0"),
    "noisy-id3": ("max_depth=2",),
    "additive": (),
}

Line = tuple[str, ...]


def _fits() -> list[Line]:
    return [
        (
            "fit",
            *_TABLE,
            *_PAID,
            "--no-check",  # the look at the table is exact, for the owner's terminal alone
            "--learner",
            name,
            *(word for one in settings for word in ("--set", one)),
            "-o",
            f"{name}.json",
        )
        for name, settings in SETTINGS.items()
    ]


#: Lines that stand after one another in a folder of their own. ``{home}`` is where the table lies.
CHAINS: dict[str, list[Line]] = {
    "models": [
        *_fits(),
        ("fit", *_BY_PERSON, *_PAID, "--no-check", "--json", "-o", "by-person.json"),
        (
            "update",
            "random-trees.json",
            "{home}/people.parquet",
            *_PAID,
            "--name",
            "later",
            "-o",
            "updated.json",
        ),
        *(
            ("card", f"{name}.json", "-o", f"{name}.md")
            for name in ("privet", "random-trees", "additive")
        ),
        ("card", "updated.json", "-o", "updated.html"),
        ("card", "updated.json", "-o", "updated-card.txt"),
        *(("show", f"{name}.json", "--whole") for name in ("random-trees", "noisy-id3")),
        *(
            ("export", "random-trees.json", "-o", f"random-trees.{kind}")
            for kind in ("txt", "dot", "onnx")
        ),
        ("export", "additive.json", "-o", "additive.onnx"),
        *(("plot", "random-trees.json", "-o", f"tree.{kind}") for kind in ("svg", "png", "pdf")),
        ("plot", "additive.json", "-o", "terms.svg"),
        ("explain", "privet.json", "-o", "explanation.html"),
        ("evaluate", "greedy-tree.json", *_TABLE, *_PAID),
        ("evaluate", "greedy-tree.json", *_TABLE, *_PAID, "--json"),
    ],
    "questions": [
        ("count", *_BY_PERSON, *_PAID, "--by", "colour"),
        ("count", *_TABLE, *_PAID, "--json"),
        ("quantile", *_BY_PERSON, *_PAID, "--attribute", "age"),
        ("quantile", *_TABLE, *_PAID, "--attribute", "age", "--json"),
        ("ledger", "show", "{home}/people.parquet.ledger.sqlite"),
        ("ledger", "verify", "{home}/people.parquet.ledger.sqlite"),
    ],
    "relay": [
        *(
            (
                *("relay", "card", name, "--schema", "{home}/people.schema.json"),
                *("--rows", "300", "--epsilon", "1", "--key", f"{name}.key"),
                *("-o", f"{name}.card.json"),
            )
            for name in ("north", "south")
        ),
        (
            *("relay", "start", "north.card.json", "south.card.json"),
            *("--schema", "{home}/people.schema.json", "--people", "may-overlap"),
            *("-o", "relay.json"),
        ),
        (
            *("relay", "add", "{home}/people.parquet", "--schema", "{home}/people.schema.json"),
            *("--relay", "relay.json", "--party", "north", "--key", "north.key"),
            *("-o", "relay-2.json"),
        ),
        ("relay", "show", "relay-2.json"),
        ("relay", "finish", "relay-2.json", "--early", "-o", "relayed.json"),
    ],
    "federation": [
        (
            "federation",
            "plan",
            "--schema",
            "{home}/people.schema.json",
            "--trees",
            "2",
            "--height",
            "2",
            "-o",
            "plan.json",
        ),
        (
            "federation",
            "contribute",
            "{home}/people.parquet",
            "--plan",
            "plan.json",
            *_PAID,
            "--party",
            "north",
            "-o",
            "north.json",
        ),
        (
            "federation",
            "contribute",
            "{home}/people.parquet",
            "--plan",
            "plan.json",
            *_PAID,
            "--party",
            "south",
            "-o",
            "south.json",
        ),
        ("merge", "north.json", "south.json", "-o", "merged.json"),
        *(
            (
                "fit",
                "{home}/people.parquet",
                "--schema",
                f"{{home}}/{name}.schema.json",
                *_PAID,
                "--no-check",
                "-l",
                "random-trees",
                "-o",
                f"{name}.json",
            )
            for name in ("colour", "age")
        ),
        ("join", "colour.json", "age.json", "-o", "joined.json"),
        ("card", "joined.json", "-o", "joined.md"),
    ],
    "publish": [
        ("publish", "synthetic", *_TABLE, *_PAID, "--rows", "500", "-o", "synthetic.parquet"),
        ("publish", "synthetic", *_TABLE, *_PAID, "--rows", "500", "-o", "synthetic.csv"),
        (
            "publish",
            "check",
            "synthetic.csv",
            *_TABLE,
            *_PAID,
            "--anyway",  # so little epsilon tells nothing
            "-o",
            "check.html",
            "--plot",
            "check.svg",
        ),
        ("publish", "check", "synthetic.csv", *_TABLE, *_PAID, "--anyway", "-o", "check.md"),
    ],
    # a report for each row of a small table: what is at stake is rows and names, not counts
    "records": [
        ("publish", "randomizer", *_REPLACED, "-o", "randomizer.json"),
        (
            "publish",
            "randomize",
            "{home}/few.parquet",
            "--randomizer",
            "randomizer.json",
            "-o",
            "reports.csv",
        ),
        (
            "publish",
            "learn",
            "reports.csv",
            "--randomizer",
            "randomizer.json",
            "--learner",
            "additive",
            "-o",
            "m.json",
        ),
        ("card", "m.json"),
        (
            "federation",
            "plan",
            "--schema",
            "{home}/replaced.schema.json",
            "--trees",
            "2",
            "--height",
            "1",
            "-o",
            "plan.json",
        ),
        (
            "publish",
            "randomize",
            "{home}/few.parquet",
            "--plan",
            "plan.json",
            *_REPLACED,
            "-o",
            "leaves.csv",
        ),
        ("publish", "learn", "leaves.csv", "-o", "leaves.json"),
    ],
}

#: Commands that release nothing about private rows.
_NOT_PRIVATE = (
    "an owner's tool for outsourced tables: anatomization, no promise of differential privacy, "
    "said so wherever it writes"
)
_ACCOUNTS = "accounts and budgets; reads no row"
NO_RELEASE: dict[str, str] = {
    "demo": "public data, which is generated",
    "init": "a schema; what it cost is tests/curator/test_survey.py's",
    "predict": "says of rows that the caller brings what the model says; the model is looked at by itself",  # noqa: E501
    "anonymity": "exact, for the owner alone, and says so",
    "epsilon": "reads no row",
    "sources": "reads no row",
    "curator limits": "reads no row",
    "audit": "tables that are made up",
    "schema check": "exact, for the owner alone",
    "schema declare": "reads no row",
    "schema draft": "from a public sample, and says so",
    "datasets list": "public data",
    "datasets get": "public data",
    "federation demo": "public data, which is generated",
    "relay join": "reads no row",
    "relay leave": "reads no row",
    "outsource": _NOT_PRIVATE,
    "curator serve": "its answers are looked at in test_answers.py",
    "sql": "functions and rights; what they answer is tests/service/sql's",
    "ledger cap": _ACCOUNTS,
    "ledger cancel": _ACCOUNTS,
    "curator ledger": "what `ledger show` prints",
    "curator report": "what the ledger and the audit log hold",
    "curator backup": "a copy for the owner alone",
    **{
        f"curator {name}": _ACCOUNTS
        for name in (
            *("init", "grant", "revoke", "verify", "dataset add", "dataset list", "dataset remove"),
            *("analyst add", "analyst token", "analyst role", "analyst list", "cancel", "archive"),
            *("cap", "places", "analyst remove", "staff add", "staff token", "staff remove"),
            *("staff list", "dataset update", "dataset test", "dataset pause", "dataset resume"),
            *("audit-log show", "audit-log verify", "audit-log export"),
        )
    },
}

_READS = "makes nothing of rows"
_RESULTS = "draws results of experiments, which are about public data"
#: What the package offers to Python programs, by room: the command above that makes use of it, or
#: why nothing is released by it.
OFFERED: dict[str, dict[str, str]] = {
    "report": {
        **dict.fromkeys(("card_html", "card_markdown"), "card"),
        **dict.fromkeys(("to_onnx", "tree_dot", "tree_text"), "export"),
        "model_view": "show",
        "write_model": "fit",
        **dict.fromkeys(("ModelError", "Parts", "collapse_tree", "read_model"), _READS),
    },
    "publish": {
        "synthesize": "publish synthetic",
        "SyntheticTable": "publish synthetic",
        "check_synthetic": "publish check",
        "Randomizer": "publish randomize",
        "LeafRandomizer": "publish randomize",
        "write_randomizer": "publish randomizer",
        "collect_leaves": "publish learn",
        "local_curator": "publish learn",
        "read_randomizer": _READS,
    },
    "federation": {
        "contribute": "federation contribute",
        "draw_plan": "federation plan",
        "write_plan": "federation plan",
        "join": "join",
        "merge": "merge",
        "update": "update",
        "read_plan": _READS,
    },
    "report.plots": {
        **dict.fromkeys(("draw_effects", "draw_tree"), "plot"),
        "draw_terms": "draws what a model holds, which is looked at by itself",
        "save_figure": "plot",
        "draw_shares": "publish check",
        **dict.fromkeys(
            (
                "accuracy_over_epsilon",
                "draw_box_panels",
                "draw_boxes",
                "draw_curves",
                "draw_maps",
                "heatmap",
            ),
            _RESULTS,
        ),
    },
}
