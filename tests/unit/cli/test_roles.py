from pathlib import Path

import pyarrow as pa

from fwl.cli.roles import Asked, Roles, Sheet, assign_roles


def sheet(name, *columns):
    return Sheet(Path(name), pa.table({column: [1] for column in columns}))


def test_what_is_left_is_learned_from():
    roles = assign_roles(Asked("y"), [sheet("s.csv", "y", "b", "a", "own")], sheet("w.csv", "a", "b", "y", "other"))
    assert roles == Roles("y", ("y",), None, ("a", "b"), None)


def test_a_column_named_id_is_one_where_all_files_have_it():
    strong, weak = sheet("s.csv", "id", "a", "y"), sheet("w.csv", "id", "a", "y")
    assert assign_roles(Asked("y"), [strong], weak).id == "id"
    without = sheet("more.csv", "a", "y")
    assert assign_roles(Asked("y"), [strong, without], weak) == Roles("y", ("y",), None, ("a",), None)
    assert assign_roles(Asked("y", features=("id", "a")), [strong], weak).features == ("id", "a")


def test_neither_label_is_learned_from():
    strong, weak = sheet("s.csv", "a", "y", "rule"), sheet("w.csv", "a", "y", "rule")
    assert assign_roles(Asked("y", ("rule",)), [strong], weak).features == ("a",)


def test_texts_leave_other_columns_alone():
    strong, weak = sheet("s.csv", "t", "y"), sheet("w.csv", "t", "y", "more")
    roles = assign_roles(Asked("y", text="t"), [strong], weak)
    assert (roles.samples, roles.features, roles.as_text) == (("t",), (), {"t"})


def test_roles_survive_being_noted():
    roles = Roles("y", ("rule", "crowd"), None, ("a", "b"), "id")
    noted = {**roles.plain(), "weak_labels": ["rule", "crowd"], "features": ["a", "b"]}  # as JSON gives them back
    assert Roles.from_plain(noted) == roles
