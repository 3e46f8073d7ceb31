"""No command repeats a password that a URL on its command line holds."""

from __future__ import annotations

import pytest

from tests.cli.test_help import COMMANDS

SECRET = "hunter2"
URLS = [
    f"postgresql://ada:{SECRET}@127.0.0.1:1/db?table=public.people",
    f"postgresql://127.0.0.1:1/db?table=public.people&password={SECRET}",
    f"postgres:/ada:{SECRET}@127.0.0.1:1/db",  # written wrongly
]
LEAVES = {path: command for path, command in COMMANDS.items() if not hasattr(command, "commands")}


def words_of(command, url, *, options):
    """A URL for everything that takes text."""
    words = []
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            words.append(url)
        elif options and parameter.type.name in ("text", "path", "filename"):
            words += [parameter.opts[0], url]
    return words


@pytest.mark.parametrize("path", LEAVES, ids=" ".join)
def test_no_command_repeats_a_password(privet, path):
    if path == ("demo",):
        pytest.skip("takes no text")
    for url in URLS:
        for options in (False, True):
            words = words_of(LEAVES[path], url, options=options)
            # the last word is one too many, which is repeated before anything is done
            for more in ([], [url]):
                if url not in [*words, *more]:
                    continue
                done = privet(*path, *words, *more)
                assert SECRET not in done.out + done.err, (path, words)
