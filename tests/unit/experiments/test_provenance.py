from fwl.experiments.provenance import installed_version, provenance


def test_it_names_version_packages_seeds_and_data():
    record = provenance([1, 2], ["b", "a"], 3.21)
    assert set(record) == {"version", "commit", "data_sha256", "packages", "seeds", "seconds", "machine"}
    assert record["seeds"] == [1, 2]
    assert record["seconds"] == 3.2
    assert record["version"] == installed_version() == "0.1.0"
    assert {"numpy", "torch", "scipy", "scikit-learn", "python"} <= set(record["packages"])


def test_the_datas_fingerprint_does_not_depend_on_the_order_of_arrival():
    assert provenance([], ["a", "b"], 0)["data_sha256"] == provenance([], ["b", "a"], 0)["data_sha256"]
    assert provenance([], ["a", "b"], 0)["data_sha256"] != provenance([], ["a", "c"], 0)["data_sha256"]
