"""Export: one file that holds everything, or everything that may be shown."""

import pytest

from metaml.experience.vocabulary import PUBLIC_WORDS
from metaml.search.strategy import STRATEGIES
from metaml_kb import DatasetRecord, ProposalRecord, open_kb
from metaml_kb.errors import CannotOpen
from metaml_kb.exchange import export, import_file, n_runs_in

DAY = 86_400.0


@pytest.fixture
def started(full, run_of):
    """A knowledge base with a starter in it: one data set is only the starter's, one is shared."""
    starter = full.start_session("starter", settings={"title": "starter"})
    full.add_dataset(DatasetRecord("d" * 32, "zoo"))
    full.add_metafeatures("d" * 32, {"NumberOfInstances": 20.0})
    full.add_run(run_of(50, session=starter))
    full.add_run(run_of(51, dataset="d" * 32, session=starter, fold_plan="starter plan"))
    return full


@pytest.mark.parametrize("name", ["all.metaml", "all.db"])
@pytest.mark.parametrize("is_new", [True, False])
def test_an_export_holds_everything(full, run_of, tmp_path, name, is_new):
    export(full, tmp_path / name)
    with open_kb(":memory:") as other:
        if not is_new:
            other.add_dataset(DatasetRecord("d" * 32, "zoo"))
        merged = import_file(other, tmp_path / name)

        assert (merged.n_runs, merged.n_datasets) == (6, 2)
        assert other.runs().equals(full.runs())
        assert other.metafeatures().equals(full.metafeatures())
        assert other.sql("SELECT settings FROM session").equals(full.sql("SELECT settings FROM session"))
        assert import_file(other, tmp_path / name).n_runs == 0


@pytest.mark.parametrize("name", ["private.metaml", "private.db"])
def test_a_private_export_tells_nothing_about_the_data_or_its_owner(full, tmp_path, name):
    export(full, tmp_path / name, private=True)

    with open_kb(tmp_path / "other.db") as other:
        import_file(other, tmp_path / name)
        frame = other.runs()
        fingerprints = set(other.datasets()["fingerprint"])
        metafeatures = other.metafeatures()
    # Compressed pages are laid open before the search, and so is the file as it is.
    dumped = (tmp_path / "other.db").read_bytes() + (tmp_path / name).read_bytes()

    assert b"secret" not in dumped
    assert fingerprints.isdisjoint({"f" * 32, "e" * 32})
    assert sorted(frame["accuracy"].dropna()) == [0.625] * 5
    assert len(frame) == 6
    assert metafeatures["NumberOfInstances"].tolist() == [10.0]


def test_a_private_export_keeps_the_public_words_for_who_proposed_and_who_measured(full, run_of, tmp_path):
    full.add_metafeatures("e" * 32, {"Dimensionality": 0.5}, source="openml")
    full.add_runs(run_of(20, seed=n, proposal=ProposalRecord(name)) for n, name in enumerate(STRATEGIES))

    export(full, tmp_path / "private.db", private=True, public_words=PUBLIC_WORDS)

    with open_kb(tmp_path / "private.db", create=False) as other:
        proposers = other.sql("SELECT proposer FROM proposal ORDER BY run_id")["proposer"].tolist()
        sources = set(other.sql("SELECT source FROM metafeature")["source"])
        measured = set(other.sql("SELECT source FROM metafeature_group")["source"])
    assert (proposers[0], proposers[2:]) == ("gbqr", list(STRATEGIES))
    assert len(sources) == 4
    assert sources - measured == {"computed", "openml"}


def test_a_private_export_salts_every_word_unless_told_which_are_public(full, tmp_path):
    export(full, tmp_path / "private.db", private=True)

    with open_kb(tmp_path / "private.db", create=False) as other:
        words = other.sql("SELECT proposer AS word FROM proposal UNION SELECT source FROM metafeature")["word"]
    assert len(words) == 5
    assert words.str.startswith("private-").all()


@pytest.mark.parametrize("name", ["private.metaml", "private.db"])
def test_a_private_export_leads_to_no_session_of_its_owner(full, run_of, tmp_path, name):
    second = full.start_session("tune")
    full.add_run(run_of(4, session=second))
    full.finish_session(second)
    keys = set(full.sql("SELECT key FROM session")["key"])

    export(full, tmp_path / name, private=True)

    with open_kb(tmp_path / "other.db") as other:
        import_file(other, tmp_path / name)
        merged = import_file(other, tmp_path / name)
        n_runs = other.runs().groupby("session").size()
        times = other.sql("SELECT started_at AS at FROM session UNION SELECT finished_at FROM session")["at"].dropna()
        n_finished = other.sql("SELECT count(finished_at) AS n FROM session")["n"].tolist()
        ended = other.sql("SELECT finished_at, id FROM run")["finished_at"]
    dumped = (tmp_path / "other.db").read_bytes() + (tmp_path / name).read_bytes()

    assert not any(key.encode() in dumped for key in keys)
    assert sorted(n_runs) == [1, 3]
    assert (merged.n_runs, merged.n_known) == (0, 7)
    assert n_finished == [1]
    assert {*times % DAY, *ended % DAY} == {0.0}


def test_a_private_export_tells_only_the_day_on_which_a_data_set_was_added(full, tmp_path):
    export(full, tmp_path / "private.db", private=True)

    with open_kb(tmp_path / "private.db", create=False) as other:
        assert set(other.sql("SELECT added_at FROM dataset")["added_at"] % DAY) == {0.0}


def test_two_private_exports_of_one_knowledge_base_agree(full, run_of, tmp_path):
    export(full, tmp_path / "first.metaml", private=True)
    full.add_run(run_of(77))
    export(full, tmp_path / "second.metaml", private=True)

    with open_kb(":memory:") as other:
        import_file(other, tmp_path / "first.metaml")
        merged = import_file(other, tmp_path / "second.metaml")

    assert (merged.n_runs, merged.n_datasets, merged.n_known) == (1, 0, 6)


def test_an_export_never_overwrites(full, tmp_path):
    (tmp_path / "all.metaml").write_text("precious")

    with pytest.raises(CannotOpen, match="exists already"):
        export(full, tmp_path / "all.metaml")

    assert (tmp_path / "all.metaml").read_text() == "precious"


@pytest.mark.parametrize("name", ["all.csv", "all.JSON", "all.parquet"])
def test_an_export_does_not_pass_for_a_table(full, tmp_path, name):
    with pytest.raises(CannotOpen, match=r"not a table.*metaml kb runs --format csv"):
        export(full, tmp_path / name)

    assert not (tmp_path / name).exists()


@pytest.mark.parametrize("name", ["all", "all.zip", "all.backup", "all.db"])
def test_an_export_may_have_any_other_name(full, tmp_path, name):
    assert export(full, tmp_path / name) == n_runs_in(tmp_path / name)


@pytest.mark.parametrize("name", ["mine.metaml", "mine.db"])
@pytest.mark.parametrize("private", [True, False])
def test_an_export_leaves_the_starter_out(started, tmp_path, name, private):
    n_runs = export(started, tmp_path / name, private=private)

    with open_kb(":memory:") as other:
        import_file(other, tmp_path / name)

        assert n_runs == len(other.runs()) == 6
        assert len(other.datasets()) == 2
        assert other.metafeatures()["NumberOfInstances"].tolist() == [10.0]
        assert other.sql("SELECT kind FROM session")["kind"].tolist() == ["bot"]
        assert other.sql("SELECT count(*) AS n FROM fold_plan")["n"].tolist() == [1]
        assert other.sql("SELECT count(*) AS n FROM configuration")["n"].tolist() == [6]


def test_an_export_brings_the_starter_if_asked(started, tmp_path):
    n_runs = export(started, tmp_path / "all.metaml", with_starter=True)

    with open_kb(":memory:") as other:
        import_file(other, tmp_path / "all.metaml")

        assert n_runs == n_runs_in(tmp_path / "all.metaml") == 8
        assert other.runs().equals(started.runs())
        assert other.info()["runs_by_source"] == {"starter": 2, "yours": 6}
