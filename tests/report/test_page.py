"""The page shows what is known, leaves out the rest, and can hold any text."""

from dataclasses import replace

from metaml.data import Repair
from metaml.report import Confusion, ExperienceFacts, FeatureImportance, render
from metaml.report.page import SECTIONS
from tests.report.reading import read, sections
from tests.report.samples import full, least, numeric, readable, trials

HOSTILE = '<script>alert("x")</script>&amp;\x00\ud800'


def test_a_full_report_has_every_section():
    # A search for one score has no front.
    assert sections(render(full())) == set(SECTIONS) - {"front"}


def test_text_from_a_user_is_only_ever_text():
    data = full()
    hostile = replace(
        data,
        dataset=replace(
            data.dataset,
            name=HOSTILE,
            target=HOSTILE,
            class_counts={HOSTILE: 3},
            repairs=[Repair(HOSTILE, HOSTILE, HOSTILE)],
        ),
        session=replace(data.session, output=HOSTILE, session=HOSTILE, versions={HOSTILE: HOSTILE}),
        trials=[replace(row, algorithm=HOSTILE, config={HOSTILE: HOSTILE}) for row in data.trials],
        features=[FeatureImportance(HOSTILE, 1.0, 0.1)],
        confusion=Confusion([HOSTILE, HOSTILE], [[1, 2], [3, 4]]),
        baselines={HOSTILE: 0.9},
        hyperparameters={HOSTILE: [(HOSTILE, 0.5)]},
        experience=ExperienceFacts(n_datasets=1, n_runs=1, similar=[(HOSTILE, 0.1)], text=HOSTILE),
        ledger={HOSTILE: 30.0},
        absent={},
        readable=readable(HOSTILE),
    )

    page = render(hostile)

    reader = read(page)
    assert "script" not in reader.tags
    assert '<script>alert("x")</script>&amp;' in "".join(reader.texts)
    assert not any(name.startswith("on") for name, _ in reader.attributes)
    page.encode("utf-8")
    assert "\x00" not in page


def test_nothing_is_fetched_from_anywhere():
    for data in (full(), numeric(), least()):
        page = render(data)

        assert "http://" not in page
        assert "https://" not in page
        assert {name for name, _ in read(page).attributes}.isdisjoint({"src", "srcset", "action", "data"})
        assert all(value.startswith("#") for name, value in read(page).attributes if name == "href")
        assert "@import" not in page
        assert "url(" not in page


def test_a_huge_session_makes_a_small_page():
    data = full()
    many = replace(
        data,
        dataset=replace(
            data.dataset,
            repairs=[Repair(f"column {number}", "dropped", "constant") for number in range(20_000)],
            class_counts={str(number): 2 for number in range(500)},
        ),
        trials=trials(20_000),
        features=[FeatureImportance("x" * 300, 1.0, 0.1)] * 20_000,
        confusion=Confusion([str(number) for number in range(300)], [[1.0] * 300] * 300),
        residuals=[(1.0, 2.0)] * 30_000,
    )

    assert len(render(many).encode()) < 1_500_000
    assert len(render(full()).encode()) < 200_000
