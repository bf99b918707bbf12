"""Which workers score as this machine does."""

from metaml.cluster.versions import host_facts, mismatch, scale


def test_a_machine_fits_itself():
    facts = host_facts()

    assert mismatch(facts, facts) == ""
    assert scale(facts, facts) == 1.0
    assert facts["megabytes"] > 100


def test_what_differs_is_named():
    ours = {"python": "3.11.2", "libraries": {"metaml": "0.1.0", "lightgbm": "4.5", "ConfigSpace": "1"}}
    theirs = {"python": "3.11.9", "libraries": {"metaml": "0.2.0", "lightgbm": "4.5", "catboost": "1.2"}}

    assert mismatch(ours, theirs) == "metaml 0.2.0 instead of 0.1.0, catboost 1.2 instead of none"
