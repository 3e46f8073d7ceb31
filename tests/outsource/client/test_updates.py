"""Inserting, deleting, rotating, exporting: groups stay diverse, nobody is lost, nothing can be
done twice.
"""

from __future__ import annotations

import base64
import csv
import dataclasses
import threading
from collections import Counter
from contextlib import contextmanager

import httpx2
import pandas as pd
import pytest

from privet.client.transport import Link
from privet.domain import Categorical, Numeric, Schema
from privet.errors import (
    Conflict,
    OutsourceError,
    ParameterError,
    SchemaError,
    SealError,
    Unavailable,
)
from privet.outsource.anatomy import cells_of, codes_of
from privet.outsource.cipher import KeyRing
from privet.outsource.client import Baseline, Collaborative, Naive, OutsourcedTable, updates
from privet.outsource.client.rotation import export, rotate
from privet.outsource.client.subtrees import join_rows
from privet.outsource.client.updates import (
    Flushed,
    Waiting,
    delete,
    flush,
    insert,
    read_waiting_rows,
)
from privet.outsource.files import write_halves
from privet.outsource.server.state import ServerState
from privet.outsource.split import split
from privet.outsource.verify import open_true_values
from tests.outsource.client.conftest import Outsourced
from tests.outsource.people import SCHEMA, people
from tests.service.running import serving

#: Of ages that nobody in the table has.
NEW = people(60, seed=7).assign(age=[i + 0.55 for i in range(60)])
COLUMNS = ["town", "age", "smokes", "visits", "disease"]


def rows_of(frame) -> Counter:
    return Counter(zip(*cells_of(frame, COLUMNS), strict=True))


def exported(table: OutsourcedTable, path) -> Counter:
    export(table, path)
    with path.open(newline="") as file:
        lines = list(csv.reader(file))
    assert lines[0] == COLUMNS
    return Counter(tuple(cell or None for cell in line) for line in lines[1:])


def stored(there: Outsourced) -> Counter:
    _, values = open_true_values(there.halves, there.ring)
    return Counter(zip(*there.halves.identifiers.cells, values, strict=True))


def check_diverse(table: OutsourcedTable) -> None:
    """Every group that the server holds is diverse, by all its entries."""
    seen: dict[int, list] = {}
    for page in table.rows():
        for row in page.rows:
            seen[row.gid] = [value for _, value in row.candidates]
    for values in seen.values():
        counts = Counter(codes_of(SCHEMA.attributes["disease"], values).tolist())
        assert max(counts.values()) * 2 <= counts.total()


class TestInsert:
    def test_rows_wait_and_then_get_groups(self, own, tmp_path):
        before = stored(own)
        with own.table() as table:
            first = insert(table, NEW.iloc[:10], batch=30)
            assert (first.placed, first.waiting) == (0, 10)
            assert table.about()["rows"] == before.total()
            assert exported(table, tmp_path / "a.csv") == before + rows_of(NEW.iloc[:10])
            second = insert(table, NEW.iloc[10:], batch=30)
            assert second.placed + second.waiting == 60
            counts = Counter(NEW["disease"])
            assert second.waiting == max(0, 2 * max(counts.values()) - 60)
            told = table.about()
            assert (told["rows"], told["pending"]) == (
                before.total() + second.placed,
                second.waiting,
            )
            assert exported(table, tmp_path / "b.csv") == before + rows_of(NEW)
            check_diverse(table)

    def test_what_still_waits_is_sealed_anew(self, own):
        """Else the server would see which of the rows that waited got no group."""
        same = NEW.assign(disease=["flu"] * 50 + ["gout"] * 10)
        with own.table() as table:
            insert(table, same, batch=1000)
            before = {sealed for _, sealed in table.pending()}
            assert len({len(sealed) for sealed in before}) == 1
            assert flush(table).waiting == 40
            after = {sealed for _, sealed in table.pending()}
            assert len(after) == 40
            assert not before & after

    def test_rows_that_do_not_fit_are_refused_as_a_whole(self, own):
        with own.table() as table:
            with pytest.raises(
                SchemaError,
                match=r"1 of 60 rows have an entry that does not fit the schema \(rows 4",
            ):
                insert(table, NEW.assign(disease=NEW["disease"].where(NEW.index != 3, "plague")))
            with pytest.raises(SchemaError, match="smokes"):
                insert(table, NEW.drop(columns="smokes"))
            with pytest.raises(ParameterError, match="batch"):
                insert(table, NEW, batch=0)
            assert table.about()["pending"] == 0

    def test_new_rows_are_learnt_from(self, own):
        """A refined leaf that new rows come to is refined anew, with them."""
        with own.table() as table:
            learner = Collaborative(table, table.grow("multiway", 2))
            learner.predict(NEW)
            naive = Naive(table)
            naive.learn()
            refined = table.details(learner.tree.id).refined
            insert(table, NEW, batch=1)
            assert len(table.details(learner.tree.id).refined) < len(refined)
            assert not naive.is_there()
            assert sum(table.details(learner.tree.id).sizes.values()) == table.about()["rows"]
            learner.predict(NEW)
            assert table.details(learner.tree.id).refined.keys() == refined.keys()

    def test_a_lost_answer_adds_nobody_twice(self, own):
        """The first attempt is done, its answer is lost, and it is sent again."""
        with own.table() as table:
            client = table.link._client
            real, lost = client.stream, []

            @contextmanager
            def losing(method, url, **options):
                with real(method, url, **options) as response:
                    if url.endswith("/changes") and not lost:
                        lost.append(response.read())
                        raise httpx2.ReadError("lost")
                    yield response

            client.stream = losing
            assert insert(table, NEW.iloc[:5], batch=1000).waiting == 5
            assert lost
            assert table.about()["pending"] == 5

    def test_nobody_comes_twice(self, tmp_path):
        """Where the schema names the person: in two groups of one person the common value would be
        theirs.
        """
        schema = dataclasses.replace(SCHEMA, person="name")
        first = people(100).assign(name=[f"p{i}" for i in range(100)])
        ring = KeyRing.new()
        made = split(first, schema, "disease", 2, ring)
        write_halves(made.halves, tmp_path / "halves")
        state = ServerState.make(tmp_path / "home", tmp_path / "halves")
        token = state.accounts.add_analyst("ada")
        new = NEW.iloc[:4].assign(name=["q0", "q1", "q2", "q3"])
        present = made.halves.identifiers.cells[-1][0]
        with (
            serving(state.path, group="outsource") as service,
            OutsourcedTable(f"http://127.0.0.1:{service.port}", token, ring) as table,
        ):
            with pytest.raises(ParameterError, match="1 of the 4 people are in the table already"):
                insert(table, new.assign(name=["q0", "q1", present, "q3"]))
            with pytest.raises(ParameterError, match="row 2 has several"):
                insert(table, new.assign(name=["q0", "q1", "q2", "q1"]))
            assert table.about()["pending"] == 0
            assert insert(table, new).waiting == 4
            with pytest.raises(ParameterError, match="4 of the 4 people"):
                insert(table, new)
            assert table.about()["pending"] == 4

    def test_another_key_cannot_make_groups(self, own):
        with own.table() as table:
            insert(table, NEW, batch=1000)
        with pytest.raises(SealError):
            own.table(KeyRing.new())


class TestDelete:
    def gone(self, own):
        listed = list(stored(own).elements())[:5]
        return pd.DataFrame(listed, columns=COLUMNS)

    def test_rows_go_and_their_values_stay(self, own, tmp_path):
        gone = self.gone(own)
        with own.table() as table:
            before = table.about()
            assert delete(table, gone) == 5
            after = table.about()
            assert (after["rows"], after["values"]) == (before["rows"] - 5, before["values"])
            assert exported(table, tmp_path / "left.csv") == stored(own) - rows_of(gone)
            check_diverse(table)

    def test_a_row_that_is_not_there_spares_the_others(self, own):
        gone = self.gone(own)
        gone.loc[2, "age"] = "99.99"
        with own.table() as table:
            version = table.about()["version"]
            with pytest.raises(ParameterError, match="1 of the 5 rows are not in the table"):
                delete(table, gone)
            assert table.about()["version"] == version

    def test_the_right_one_of_two_who_look_alike(self, own, tmp_path):
        twins = NEW.iloc[[0, 0, 0, 0]].assign(disease=["flu", "gout", "flu", "gout"])
        with own.table() as table:
            assert insert(table, twins, batch=1).placed == 4
            delete(table, twins.iloc[[1]])
            assert exported(table, tmp_path / "x.csv") == stored(own) + rows_of(
                twins.iloc[[0, 2, 3]]
            )

    def test_a_row_that_waits(self, own, tmp_path):
        with own.table() as table:
            insert(table, NEW.iloc[:4], batch=1000)
            assert delete(table, NEW.iloc[:2]) == 2
            assert table.about()["pending"] == 2
            assert exported(table, tmp_path / "x.csv") == stored(own) + rows_of(NEW.iloc[2:4])

    def test_what_remembers_them_is_dropped(self, own):
        gone = self.gone(own)
        with own.table() as table:
            learner = Collaborative(table, table.grow("multiway"))
            learner.predict(gone)
            assert table.details(learner.tree.id).refined
            delete(table, gone)
            assert table.details(learner.tree.id).refined == {}
            assert table.newest_tree().changed == 5


class TestRotation:
    def test_everything_is_sealed_anew(self, own, tmp_path):
        with own.table() as table:
            learner = Collaborative(table, table.grow("binary"))
            expected = learner.predict(NEW)
            Naive(table).learn()
            insert(table, NEW.iloc[:3], batch=1000)
        rotated = own.ring.add_fresh_key()
        with own.table(rotated) as table:
            learner = Collaborative(table, table.newest_tree())
            refined = len(table.details(learner.tree.id).refined)
            assert rotate(table) == table.about()["rows"] + refined + 2 + 3
            assert rotate(table) == 0
        with own.table(rotated.retire_old_keys()) as table:
            assert Collaborative(table, table.newest_tree()).predict(NEW) == expected
            assert Naive(table).predict(NEW.iloc[:2])
            assert exported(table, tmp_path / "x.csv") == stored(own) + rows_of(NEW.iloc[:3])
        with pytest.raises(SealError):
            own.table()

    def test_an_interrupted_rotation_goes_on(self, own, tmp_path):
        rotated = own.ring.add_fresh_key()
        with own.table(rotated) as table:
            calls = []

            def change_once(**changes):
                calls.append(changes)
                raise Unavailable("the line is cut")

            table.change_any = change_once
            with pytest.raises(Unavailable):
                rotate(table)
        assert calls
        with own.table(rotated) as table:
            assert rotate(table) == table.about()["rows"] + 1
            assert exported(table, tmp_path / "x.csv") == stored(own)

    def test_a_mixed_state_can_be_read_with_both_keys(self, own, tmp_path):
        """Half of the rows are sealed anew, then predictions and exports go on as before."""
        rotated = own.ring.add_fresh_key()
        with own.table(rotated) as table:
            page = next(table.rows())
            fresh = []
            for row in page.rows[:50]:
                again = table.sealer.seal(
                    "sequence", row.place, table.sealer.open("sequence", row.place, row.eseq)
                )
                fresh.append([row.row, base64.b64encode(again).decode()])
            table.change_any(reseal=fresh)
            assert exported(table, tmp_path / "x.csv") == stored(own)


class TestExport:
    def test_rows_that_are_sent_twice_or_left_out(self, own, monkeypatch, tmp_path):
        with own.table() as table:
            pages = list(table.rows())
            monkeypatch.setattr(table, "rows", lambda: iter([*pages, *pages]))
            with pytest.raises(SealError):
                export(table, tmp_path / "x.csv")
            short = dataclasses.replace(pages[0], rows=pages[0].rows[:-1])
            monkeypatch.setattr(table, "rows", lambda: iter([short, *pages[1:]]))
            with pytest.raises(OutsourceError, match="but sent others"):
                export(table, tmp_path / "x.csv")
        assert [path.name for path in tmp_path.glob("*x.csv*")] == []

    def test_the_file_is_for_its_owner_only(self, own, tmp_path):
        target = tmp_path / "mine.txt"
        target.write_text("mine")
        (tmp_path / "x.csv.part").symlink_to(target)
        with own.table() as table:
            export(table, tmp_path / "x.csv")
        assert (tmp_path / "x.csv").stat().st_mode & 0o777 == 0o600
        assert target.read_text() == "mine"


class TestSpelling:
    """How a source writes its entries must not mark them in both halves."""

    def test_values_are_spelled_as_in_the_schema(self):
        listed, numbers = Categorical([1, 2, True], missing="none"), Numeric(0, 10, bins=5)
        schema = Schema(
            {"x": numbers, "s": listed, "y": Numeric(0, 10, bins=5, missing="gone")}, "c", [0, 1]
        )
        table = pd.DataFrame(
            {
                "x": ["1", "1.0", "01", "1e0", " 1", "1.00"] * 10,
                "s": ["1", "1.0", "2", "True", None, "none"] * 10,
                "y": ["3", "3.0", "junk", None, "nan", "gone"] * 10,
                "c": ["0", "0.0", "1", "1.0", "0", "1"] * 10,
            }
        )
        halves = split(table, schema, "s", 2, KeyRing.new()).halves
        assert set(halves.identifiers.cells[0]) == {"1"}
        assert set(halves.identifiers.cells[1]) == {"3", "gone"}
        assert set(halves.identifiers.cells[2]) == {"0", "1"}
        assert set(halves.values.value) == {"1", "2", "true", "none"}

    def test_lone_surrogates_are_refused(self):
        with pytest.raises(SchemaError, match="lone surrogates"):
            cells_of(pd.DataFrame({"x": ["\ud83d"]}, dtype=object), ["x"])


class TestConflicts:
    def test_a_change_meant_for_another_version_is_refused(self, own):
        with own.table() as one, own.table() as other:
            insert(one, NEW, batch=1000)
            version = other.about()["version"]
            insert(one, NEW.iloc[:1], batch=1000)
            with pytest.raises(Conflict):
                other.change(version, remove_pending=[number for number, _ in other.pending()])
            assert other.about()["pending"] == 61

    def test_a_table_that_changes_while_it_is_read_is_read_again(self, own):
        with own.table() as table, own.table() as other:
            tree = table.grow("binary")
            leaf = next(iter(table.details(tree.id).sizes))
            real, calls = table.leaf_rows, []

            def moving(*place):
                calls.append(place)
                pages = list(real(*place))
                if len(calls) == 1:
                    insert(other, NEW.iloc[:1], batch=1000)
                    return iter([*pages, *real(*place)])
                return iter(pages)

            table.leaf_rows = moving
            rows = join_rows(table, lambda: table.leaf_rows(tree.id, leaf))
            assert len(calls) == 2
            assert rows.version == table.about()["version"]
            assert len(rows) == table.details(tree.id).sizes[leaf]


class TestPlans:
    """Groups are drawn in two steps, so that a server sees one grouping of the people who waited,
    whatever goes wrong.
    """

    def groupings(self, monkeypatch, table):
        """What the server is sent: for every change with rows, who shares a group."""
        seen: list[frozenset] = []
        real = table.change

        def change(version, **changes):
            if changes.get("rows"):
                groups: dict[int, list] = {}
                for row in changes["rows"]:
                    groups.setdefault(row["gid"], []).append(tuple(row["cells"]))
                seen.append(frozenset(frozenset(group) for group in groups.values()))
            real(version, **changes)

        monkeypatch.setattr(table, "change", change)
        return seen

    def test_two_clients_who_make_groups_at_once_show_one_grouping(self, own, monkeypatch):
        """Both draw and both publish; what both of them send is the same."""
        with own.table() as one, own.table() as other:
            insert(one, NEW, batch=1000)
            seen = [self.groupings(monkeypatch, table) for table in (one, other)]
            start = threading.Barrier(2)

            def run(table):
                start.wait()
                flush(table)

            threads = [threading.Thread(target=run, args=(table,)) for table in (one, other)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert one.about()["rows"] > 500
            check_diverse(one)
        assert len(set(seen[0] + seen[1])) >= 1
        people_seen = Counter(
            person for grouping in set(seen[0] + seen[1]) for group in grouping for person in group
        )
        assert max(people_seen.values()) == 1, "somebody was shown in two groups"

    def test_a_client_that_dies_before_publishing_leaves_its_plan(self, own, monkeypatch):
        """The next one publishes that plan, and draws no other."""
        with own.table() as first:
            insert(first, NEW, batch=1000)
            seen = self.groupings(monkeypatch, first)
            real = first.change

            def dying(version, **changes):
                if changes.get("rows"):
                    seen.append(None)
                    raise Unavailable("the line is cut")
                real(version, **changes)

            monkeypatch.setattr(first, "change", dying)
            with pytest.raises(Unavailable):
                flush(first)
            plans = {
                row.person: row.plan.gid
                for row in read_waiting_rows(first).rows
                if row.plan is not None
            }
            assert len(plans) > 30
            assert first.about()["rows"] == 500
        with own.table() as second:
            # somebody comes meanwhile, who has no plan
            insert(second, people(1, seed=99).assign(age=77.77), batch=1000)
            done = flush(second)
            groups = {
                tuple(row.cells): row.gid
                for page in second.rows()
                for row in page.rows
                if row.row >= 500
            }
            assert {person[:-1]: gid for person, gid in plans.items()}.items() <= groups.items()
            assert done.placed >= len(plans)

    def test_the_plan_cannot_be_seen(self, own):
        """All that wait are sealed anew, in texts of one length, before groups are published."""
        with own.table() as table:
            insert(table, NEW.assign(disease=["flu"] * 45 + ["gout"] * 15), batch=1000)
            before = dict(table.pending())
            updates._draw_plan(table)
            after = dict(table.pending())
            assert len(before) == len(after) == 60
            assert not before.keys() & after.keys()
            assert len({len(sealed) for sealed in [*before.values(), *after.values()]}) == 1
            planned = [row.plan is not None for row in read_waiting_rows(table).rows]
            assert sum(planned) == 30
            assert planned not in (sorted(planned), sorted(planned, reverse=True)), (
                "those without a group must not stand together"
            )

    def test_nothing_can_be_made_of_one_value_and_the_server_sees_only_new_texts(self, own):
        with own.table() as table:
            insert(table, NEW.assign(disease="flu"), batch=1000)
            before = {sealed for _, sealed in table.pending()}
            assert flush(table) == Flushed(0, 0, 60)
            assert not before & {sealed for _, sealed in table.pending()}

    @pytest.mark.parametrize("shown", [1, 7, 20])
    def test_a_part_of_a_plan_is_not_published(self, own, monkeypatch, shown):
        """A server that shows some of the planned rows only would see somebody alone with their
        value.
        """
        with own.table() as table:
            insert(table, NEW.assign(disease=["flu", "gout"] * 30), batch=1000)
            updates._draw_plan(table)
            rows = read_waiting_rows(table).rows
            first = rows[0].plan.gid
            # never the partner of the first
            others = [row.numbers[0] for row in rows if row.plan.gid != first]
            part = [rows[0].numbers[0], *others[: shown - 1]]
            real = dict(table.pending())
            monkeypatch.setattr(
                table, "pending", lambda: [(number, real[number]) for number in part]
            )
            seen = self.groupings(monkeypatch, table)
            with pytest.raises(SealError):
                flush(table)
            assert seen == []

    def test_many_rows_are_planned_some_at_a_time(self, own, monkeypatch):
        monkeypatch.setattr(updates, "_SENT_AT_ONCE", 16)
        with own.table() as table:
            done = insert(table, NEW.assign(disease=["flu", "gout"] * 30), batch=1)
            assert done.placed + done.waiting == 60
            assert done.placed >= 40
            check_diverse(table)

    def test_a_row_waits_as_long_as_the_longest_value(self, own):
        """Near a step, a longer value would take one more."""
        with own.table() as table:
            for cells in range(900, 1100, 7):
                lengths = {
                    len(Waiting.new(("x" * cells, value)).sealed(table))
                    for value in ("flu", "gout", "none")
                }
                assert len(lengths) == 1

    def test_a_row_that_is_there_twice_gets_one_group_and_its_copies_go(self, own):
        """Two groups of one person would have their value in common."""
        with own.table() as table:
            insert(table, NEW.iloc[:30], batch=1000)
            rows = table.about()["rows"]
            copies = [base64.b64encode(sealed).decode() for _, sealed in table.pending()[:7]]
            table.change_any(pending=copies)
            assert table.about()["pending"] == 37
            done = flush(table)
            assert done.placed + done.waiting == 30
            assert table.about()["pending"] == done.waiting
            assert table.about()["rows"] == rows + done.placed
            check_diverse(table)

    def test_a_copy_from_before_the_plan_goes_with_the_row(self, own, monkeypatch):
        with own.table() as table:
            insert(table, NEW.iloc[:30], batch=1000)
            before = [base64.b64encode(sealed).decode() for _, sealed in table.pending()]
            monkeypatch.setattr(updates, "_publish", lambda _: Flushed(0, 0, 30))
            flush(table)
            monkeypatch.undo()
            table.change_any(pending=before)
            done = flush(table)
            assert done.placed + done.waiting == 30
            assert table.about()["pending"] == done.waiting

    def test_two_plans_for_one_row_are_refused(self, own, monkeypatch):
        with own.table() as table:
            insert(table, NEW.iloc[:30], batch=1000)
            before = [base64.b64encode(sealed).decode() for _, sealed in table.pending()]
            monkeypatch.setattr(updates, "_publish", lambda _: Flushed(0, 0, 30))
            flush(table)
            first = [base64.b64encode(sealed).decode() for _, sealed in table.pending()]
            table.change_any(remove_pending=[n for n, _ in table.pending()], pending=before)
            flush(table)
            monkeypatch.undo()
            table.change_any(pending=first)
            with pytest.raises(SealError):
                flush(table)

    @pytest.mark.parametrize("junk", [b"junk", bytes(1100)])
    def test_junk_keeps_nobody_from_a_group(self, own, junk, tmp_path):
        """Somebody without the key may have put it there, or the server."""
        with own.table() as table:
            insert(table, NEW.iloc[:30], batch=1000)
            table.change_any(pending=[base64.b64encode(junk).decode()] * 2)
            done = flush(table)
            assert (done.placed > 0, done.unreadable) == (True, 2)
            assert table.about()["pending"] == done.waiting + 2
            export(table, tmp_path / "back.csv")
            own.ring = own.ring.add_fresh_key()
        with own.table() as table:
            rotate(table)
            done = flush(table, drop_unreadable=True)
            assert done.unreadable == 0
            assert table.about()["pending"] == done.waiting

    def test_how_many_wait_is_not_believed(self, own, monkeypatch):
        """A server that says that many wait would see groups made of a few."""
        with own.table() as table:
            real = table.about
            monkeypatch.setattr(table, "about", lambda: {**real(), "pending": 10**6})
            assert insert(table, NEW.iloc[:4]).placed == 0


class TestLiesAboutTheTable:
    """A server that says what is sensitive would have it sent to it."""

    @pytest.mark.parametrize(
        "lie",
        [
            lambda told: told.update(sensitive="smokes"),
            lambda told: told.update(l=3),
            lambda told: told.update(pruning=0.0),
            lambda told: told["schema"]["attributes"].update(
                ssn={"type": "categorical", "values": ["?"], "other": "?"}
            ),
            lambda told: told["schema"].update(person="name"),
            lambda told: told.update(id="0" * 32),
        ],
    )
    def test_nothing_is_sent_to_it(self, there, monkeypatch, lie):
        real = Link.get
        sent = []

        def lying(self, path):
            told = real(self, path)
            if path == "/about":
                lie(told["anatomy"])
            sent.append(path)
            return told

        monkeypatch.setattr(Link, "get", lying)
        with pytest.raises(SealError):
            there.table()
        assert sent == ["/about", "/sealed/anatomy"]
        with pytest.raises(OutsourceError, match="another table than the owner does"):
            OutsourcedTable(
                f"http://127.0.0.1:{there.service.port}", there.token, anatomy=there.halves.anatomy
            )

    def test_another_table_of_the_same_key(self, own, tmp_path):
        """A genuine description, but not of this table: its sensitive column is another."""
        other = split(people(100), SCHEMA, "town", 2, own.ring).halves
        write_halves(other, tmp_path / "other")
        state = ServerState.make(tmp_path / "other-home", tmp_path / "other")
        token = state.accounts.add_analyst("ada")
        bound = own.ring.bind_to_table(own.halves.anatomy.id)
        with serving(state.path, group="outsource") as service:
            url = f"http://127.0.0.1:{service.port}"
            with OutsourcedTable(url, token, own.ring) as table:
                assert table.anatomy.sensitive == "town"
            with pytest.raises(SealError):
                OutsourcedTable(url, token, bound)
        with own.table(bound) as table:
            assert table.anatomy == own.halves.anatomy

    def test_attributes_in_another_order(self, there, monkeypatch):
        real = Link.get

        def lying(self, path):
            told = real(self, path)
            if path == "/about":
                attributes = told["anatomy"]["schema"]["attributes"]
                told["anatomy"]["schema"]["attributes"] = dict(reversed(attributes.items()))
            return told

        monkeypatch.setattr(Link, "get", lying)
        with pytest.raises(SealError):
            there.table()

    def test_without_key_and_description_nothing_is_predicted(self, there):
        with OutsourcedTable(f"http://127.0.0.1:{there.service.port}", there.token) as table:
            tree = table.grow()
            with pytest.raises(OutsourceError, match="could ask for any column"):
                Baseline(table, tree).predict(NEW)
        with OutsourcedTable(
            f"http://127.0.0.1:{there.service.port}", there.token, anatomy=there.halves.anatomy
        ) as table:
            assert len(Baseline(table, tree).predict(NEW)) == 60
