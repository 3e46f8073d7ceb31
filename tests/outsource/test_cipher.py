"""Keys and sealing: what opens, what does not, and what a file gives away."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.errors import OutsourceError, ParameterError, SealError
from privet.outsource.cipher import KeyRing, Sealer, keys
from privet.outsource.cipher.sealing import OVERHEAD

RING = KeyRing.new()
COST = dict(keys._SCRYPT)  # as it is in use
PARTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=5,
)


@pytest.fixture(autouse=True)
def cheap_passphrases(monkeypatch):
    monkeypatch.setattr(keys, "_SCRYPT", {"n": 1 << 10, "r": 8, "p": 1})


class TestSealing:
    @given(st.binary(max_size=100), st.lists(PARTS, max_size=3))
    def test_what_was_sealed_opens_at_its_place(self, text, place):
        sealer = Sealer(RING, "table")
        sealed = sealer.seal("subtree", place, text)
        assert len(sealed) == len(text) + OVERHEAD
        assert sealer.open("subtree", place, sealed) == text
        assert (sealer.sealed, sealer.opened) == (1, 1)

    @given(st.lists(PARTS, max_size=3), st.lists(PARTS, max_size=3))
    def test_at_another_place_it_does_not(self, place, other):
        sealer = Sealer(RING, "table")
        sealed = sealer.seal("subtree", place, b"text")
        if json.dumps(place) != json.dumps(other):
            with pytest.raises(SealError):
                sealer.open("subtree", other, sealed)

    @given(st.data())
    def test_no_byte_can_be_changed(self, data):
        sealer = Sealer(RING, "table")
        sealed = bytearray(sealer.seal("sequence", (1,), b"12345678"))
        at = data.draw(st.integers(0, len(sealed) - 1))
        sealed[at] ^= data.draw(st.integers(1, 255))
        with pytest.raises(SealError):
            sealer.open("sequence", (1,), bytes(sealed))

    @given(st.binary(max_size=80))
    def test_no_other_bytes_open(self, junk):
        with pytest.raises(SealError):
            Sealer(RING, "table").open("sequence", (), junk)

    @pytest.mark.parametrize(
        "other",
        [
            lambda: (Sealer(KeyRing.new(), "table"), "subtree"),
            lambda: (Sealer(RING, "other table"), "subtree"),
            lambda: (Sealer(RING, "table"), "naive"),
        ],
        ids=["another key", "another table", "another purpose"],
    )
    def test_nothing_else_opens_it_and_all_say_the_same(self, other):
        sealed = Sealer(RING, "table").seal("subtree", (), b"text")
        sealer, purpose = other()
        with pytest.raises(SealError) as error:
            sealer.open(purpose, (), sealed)
        assert str(error.value) == str(SealError())

    def test_the_same_text_is_never_sealed_alike(self):
        sealer = Sealer(RING, "table")
        # the nonce
        assert len({sealer.seal("sequence", (), b"text")[5:17] for _ in range(1000)}) == 1000
        assert len({sealer.seal("sequence", (), b"text")[17:] for _ in range(1000)}) == 1000

    @pytest.mark.parametrize(("algorithm", "size"), [("AES-256-GCM", 32), ("AES-128-GCM", 16)])
    def test_both_sizes_of_keys(self, algorithm, size):
        ring = KeyRing.new(algorithm)
        assert len(ring.current.secret) == size
        assert (
            Sealer(ring, "t").open("naive", (), Sealer(ring, "t").seal("naive", (), b"x")) == b"x"
        )

    def test_it_is_the_standard_cipher(self):
        """Opened by hand: HKDF-SHA256 for the key, AES-256-GCM, the place authenticated."""
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
        from cryptography.hazmat.primitives.hashes import SHA256
        from cryptography.hazmat.primitives.kdf.hkdf import HKDF

        sealed = Sealer(RING, "table").seal("pending", ("a", 1), b"text")
        key = HKDF(SHA256(), 32, None, b'["privet outsource 1", "table", "pending"]').derive(
            RING.current.secret
        )
        assert AESGCM(key).decrypt(sealed[5:17], sealed[17:], b'["a",1]') == b"text"


class TestRotation:
    def test_the_new_key_seals_and_the_old_one_still_opens(self):
        old, sealed = RING, Sealer(RING, "t").seal("naive", (), b"x")
        new = old.add_fresh_key()
        sealer = Sealer(new, "t")
        assert sealer.open("naive", (), sealed) == b"x"
        assert not sealer.is_current(sealed)
        again = sealer.seal("naive", (), b"x")
        assert sealer.is_current(again)
        with pytest.raises(SealError):
            Sealer(old, "t").open("naive", (), again)

    def test_a_retired_key_opens_nothing(self):
        sealed = Sealer(RING, "t").seal("naive", (), b"x")
        with pytest.raises(SealError):
            Sealer(RING.add_fresh_key().retire_old_keys(), "t").open("naive", (), sealed)


class TestFile:
    def test_a_passphrase_is_expensive_to_try(self):
        """scrypt takes 128 n r bytes: a machine that tries thousands at once needs as many times
        128 MiB.
        """
        assert 128 * COST["n"] * COST["r"] >= 128 << 20

    @pytest.mark.parametrize("passphrase", [None, "a long passphrase, with ü"])
    def test_it_reads_back(self, tmp_path, passphrase):
        ring = RING.add_fresh_key("AES-128-GCM")
        ring.write(tmp_path / "k", passphrase)
        assert KeyRing.read(tmp_path / "k", passphrase) == ring
        assert (tmp_path / "k").stat().st_mode & 0o777 == 0o600
        assert KeyRing.needs_passphrase(tmp_path / "k") == (passphrase is not None)
        assert [path.name for path in tmp_path.iterdir()] == ["k"]

    def test_it_says_which_table_it_belongs_to(self, tmp_path):
        RING.bind_to_table("ab" * 16).write(tmp_path / "k")
        assert KeyRing.read(tmp_path / "k").table == "ab" * 16
        assert KeyRing.read(tmp_path / "k").add_fresh_key().retire_old_keys().table == "ab" * 16
        RING.write(tmp_path / "k", over=True)
        assert KeyRing.read(tmp_path / "k").table is None

    def test_with_a_passphrase_nobody_else_says_which_table_it_belongs_to(self, tmp_path):
        RING.bind_to_table("ab" * 16).write(tmp_path / "k", "passphrase")
        data = json.loads((tmp_path / "k").read_text())
        assert "ab" * 16 not in json.dumps(data)
        for change in ({"table": None}, {"table": "cd" * 16}):
            (tmp_path / "k").write_text(json.dumps(data | change))
            assert KeyRing.read(tmp_path / "k", "passphrase").table == "ab" * 16
        # nor by passing it off as a file of 0.1, where the table stood beside
        (tmp_path / "k").write_text(json.dumps(data | {"version": 1, "table": None}))
        with pytest.raises(OutsourceError, match="does not open"):
            KeyRing.read(tmp_path / "k", "passphrase")

    def test_without_a_passphrase_it_is_a_file_that_0_1_reads(self, tmp_path):
        RING.write(tmp_path / "k")
        data = json.loads((tmp_path / "k").read_text())
        assert (data["version"], sorted(data)) == (1, ["keys", "privet", "table", "version"])

    def test_with_a_passphrase_the_file_does_not_hold_the_key(self, tmp_path):
        RING.write(tmp_path / "open")
        RING.write(tmp_path / "locked", "passphrase")
        secret = json.loads((tmp_path / "open").read_text())["keys"][0]["secret"]
        assert secret not in (tmp_path / "locked").read_text()

    def test_with_a_passphrase_a_plain_file_in_its_place_is_refused(self, tmp_path):
        KeyRing.new().write(tmp_path / "k")
        with pytest.raises(OutsourceError, match="somebody may have replaced it"):
            KeyRing.read(tmp_path / "k", "passphrase")

    def test_another_passphrase_does_not_open_it(self, tmp_path):
        RING.write(tmp_path / "k", "right")
        with pytest.raises(OutsourceError, match="the passphrase does not open"):
            KeyRing.read(tmp_path / "k", "wrong")
        with pytest.raises(OutsourceError, match="has a passphrase"):
            KeyRing.read(tmp_path / "k")

    def test_a_key_is_not_overwritten(self, tmp_path):
        RING.write(tmp_path / "k")
        with pytest.raises(ParameterError, match="exists"):
            KeyRing.new().write(tmp_path / "k")
        assert KeyRing.read(tmp_path / "k") == RING

    @pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o666])
    def test_a_file_that_others_can_use_is_refused(self, tmp_path, mode):
        RING.write(tmp_path / "k")
        (tmp_path / "k").chmod(mode)
        with pytest.raises(OutsourceError, match="chmod 600"):
            KeyRing.read(tmp_path / "k")

    @pytest.mark.parametrize(
        "change",
        [
            lambda data: data.update(version=2),  # with a passphrase only
            lambda data: data.update(version=3),
            lambda data: data.update(version=[1]),
            lambda data: data.update(privet="model"),
            lambda data: data.update(keys=[]),
            lambda data: data["keys"][0].update(secret="AAAA"),
            lambda data: data["keys"][0].update(id="xyz"),
            lambda data: data["keys"][0].update(algorithm="ROT13"),
            lambda data: data["keys"].append(dict(data["keys"][0])),
            lambda data: data.pop("keys"),
            lambda data: data.update(keys=7),
        ],
    )
    def test_a_damaged_file_is_refused(self, tmp_path, change):
        RING.write(tmp_path / "k")
        data = json.loads((tmp_path / "k").read_text())
        change(data)
        (tmp_path / "k").write_text(json.dumps(data))
        with pytest.raises(OutsourceError):
            KeyRing.read(tmp_path / "k")

    @pytest.mark.parametrize(
        "cost",
        [
            {"n": 1 << 40},
            {"n": 1 << 20, "r": 17},
            {"p": 1 << 20},
            {"n": float("inf")},
            {"n": -1, "r": -8},
        ],
    )
    def test_a_file_cannot_ask_for_all_memory_or_for_minutes(self, tmp_path, cost):
        RING.write(tmp_path / "k", "passphrase")
        data = json.loads((tmp_path / "k").read_text())
        data["scrypt"] |= cost
        (tmp_path / "k").write_text(json.dumps(data))
        with pytest.raises(OutsourceError, match="damaged"):
            KeyRing.read(tmp_path / "k", "passphrase")

    def test_what_is_no_file(self, tmp_path):
        with pytest.raises(OutsourceError, match="cannot read the key file"):
            KeyRing.read(tmp_path / "absent")
        (tmp_path / "junk").write_text("junk")
        (tmp_path / "junk").chmod(0o600)
        with pytest.raises(OutsourceError, match="no key file"):
            KeyRing.read(tmp_path / "junk")

    def test_nothing_shows_the_secret(self):
        assert RING.current.secret.hex() not in repr(RING)
        assert repr(RING.current.secret) not in repr(RING)
        assert "secret" not in repr(RING)
