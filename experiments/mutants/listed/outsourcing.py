"""Mutants of outsourced tables: the cipher, the groups, the order of rows."""

from __future__ import annotations

from experiments.mutants.mutant import Mutant

_SEALING = "outsource/test_cipher.py::TestSealing"

MUTANTS = (
    Mutant(
        "every sealing has the same nonce",
        "Sealer.seal",
        "nonce = secrets.token_bytes(_NONCE)",
        "nonce = bytes(_NONCE)",
        "two sealed values show how they differ, and the key of the seal can be computed",
        (f"{_SEALING}::test_the_same_text_is_never_sealed_alike",),
    ),
    Mutant(
        "one key for all tables and purposes",
        "Sealer._cipher",
        'info = json.dumps(["privet outsource 1", self._table, purpose]).encode()',
        'info = b"privet outsource 1"',
        "a server shows a client what was sealed for something else",
        (f"{_SEALING}::test_nothing_else_opens_it_and_all_say_the_same",),
    ),
    Mutant(
        "what is sealed opens at any place",
        "_encode_place",
        "return _PLACES.encode(place).encode()",
        'return b""',
        "a server moves a value to another person and watches whether the client minds",
        (
            f"{_SEALING}::test_at_another_place_it_does_not",
            "outsource/test_split.py::TestTampering::test_exchanged_numbers_within_a_group",
        ),
    ),
    Mutant(
        "the key of a passphrase needs no work",
        "_SCRYPT",
        "1 << 17",
        "2",
        "a stolen key file is opened by trying passphrases",
        ("outsource/test_cipher.py::TestFile::test_a_passphrase_is_expensive_to_try",),
    ),
    Mutant(
        "the key file can be read by everybody",
        "KeyRing.write",
        "os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)",
        "os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)",
        "another user of the machine joins the two halves",
        ("outsource/test_cipher.py::TestFile::test_it_reads_back[None]",),
    ),
    Mutant(
        "the table of a key file is not sealed",
        "KeyRing.read",
        'table = content.get("table")',
        'table = data.get("table")',
        "who can write the file has one key open two tables",
        (
            "outsource/test_cipher.py::TestFile::"
            "test_with_a_passphrase_nobody_else_says_which_table_it_belongs_to",
        ),
    ),
    Mutant(
        "the halves keep the order of the table",
        "seal_halves",
        "by_eseq = sorted(range(n_rows), key=eseqs.__getitem__)\nby_seq = np.argsort(seqs)",
        "by_eseq = list(range(n_rows))\nby_seq = np.arange(n_rows)",
        "the third person has the third value",
        ("outsource/test_split.py::TestSplit::test_the_order_of_the_table_is_lost",),
    ),
    Mutant(
        "a group may hold a value twice",
        "_draw_group_values",
        "chosen.append(value)\ntotal -= open_.pop(value)",
        "chosen.append(value)\ntotal -= 1\nopen_[value] -= 1",
        "whoever is in such a group has its value with a larger chance than was promised",
        ("outsource/test_groups.py::test_groups_are_diverse_and_hold_as_many_rows_as_possible",),
    ),
    Mutant(
        "sub-trees are as long as they need to be",
        "pad_tree",
        'return (len(packed).to_bytes(_LENGTH, "big") + packed).ljust(room, b"\\0") + after',
        'return len(packed).to_bytes(_LENGTH, "big") + packed + after',
        "the length of a sealed sub-tree tells the server about the values below it",
        ("outsource/client/test_subtrees.py::test_a_tree_reads_back_from_a_text_of_one_length",),
    ),
    Mutant(
        "rows are sent in the order of the file",
        "_split_into_blocks",
        "_shuffler.shuffle(order)",
        "pass",
        "a file that is sorted by the sensitive attribute tells it to the server",
        ("outsource/client/test_secrecy.py::test_the_order_of_the_rows_is_not_that_of_the_file",),
    ),
    Mutant(
        "a client without the key may do everything",
        "ServerHandlers.check_key_holder",
        'self._roles.of(client) != "key"',
        "False",
        "somebody who was to ask base trees only reads all rows and drops what others learnt",
        ("outsource/server/test_roles.py::test_a_role_counts_from_the_next_request_on",),
    ),
    Mutant(
        "a key without a passphrase is taken for one that has one",
        "KeyRing.read",
        '"sealed" not in data and passphrase is not None',
        "False",
        "values are sealed with the keys of whoever put their own in the place of the owner's",
        (
            "outsource/test_cipher.py::TestFile::"
            "test_with_a_passphrase_a_plain_file_in_its_place_is_refused",
        ),
    ),
)
