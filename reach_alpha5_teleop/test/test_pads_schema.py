from __future__ import annotations

import json

import pytest
import yaml

from reach_alpha5_teleop import profiles
from reach_alpha5_teleop.calibrator import schema
from reach_alpha5_teleop.profile import ProfileError, load

TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
}


def agrees(data, rule):
    """Say whether data fits a schema, of which only the words that ours uses are known."""
    unknown = rule.keys() - {
        "$schema", "title", "description", "type", "enum", "properties", "required",
        "additionalProperties", "items", "minItems", "uniqueItems", "minLength",
        "minimum", "maximum",
    }  # fmt: skip
    assert not unknown
    if "enum" in rule:
        return data in rule["enum"]
    kind = TYPES[rule["type"]]
    if not isinstance(data, kind) or (isinstance(data, bool) and kind is not bool):
        return False
    if rule["type"] in ("integer", "number"):
        return rule["minimum"] <= data <= rule["maximum"]
    if rule["type"] == "string":
        return len(data) >= rule.get("minLength", 0)
    if rule["type"] == "array":
        is_unique = not rule.get("uniqueItems") or len(set(map(repr, data))) == len(data)
        return (
            is_unique
            and len(data) >= rule["minItems"]
            and all(agrees(item, rule["items"]) for item in data)
        )
    if rule["type"] != "object":
        return True
    known, more = rule.get("properties", {}), rule["additionalProperties"]
    return set(rule.get("required", ())) <= data.keys() and all(
        agrees(value, known[key]) if key in known else more is not False and agrees(value, more)
        for key, value in data.items()
    )


def whole():
    """Return the data of a profile that has every section and key."""
    data = yaml.safe_load((profiles.folder() / "xbox_joy_node.yaml").read_text())
    data["axes"]["left_right"] |= {"rest": 0.0, "deadband": 0.1}
    data["modes"] = ["cartesian", "pose", "wrist", "cylindrical"]
    data["buttons"]["jaws_toggle"] = 9
    return data


def places(data, path=()):
    """Return the path of everything in it."""
    yield path
    if isinstance(data, dict):
        for key, value in data.items():
            yield from places(value, (*path, key))


def changed(path, value):
    """Return the whole profile with one thing replaced, or removed for `...`."""
    data = whole()
    place = data
    for key in path[:-1]:
        place = place[key]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return data


def loads(data):
    try:
        load(yaml.safe_dump(data))
    except ProfileError:
        return False
    return True


def test_file_beside_the_profiles_is_what_the_tables_say():
    text = (profiles.folder() / schema.FILE).read_text()
    assert text == schema.text(), "run: alpha5-pad schema > profiles/profile.schema.json"
    assert json.loads(text) == schema.schema()


@pytest.mark.parametrize("name", profiles.names())
def test_profiles_agree_with_the_schema_and_name_it(name):
    text = (profiles.folder() / f"{name}.yaml").read_text()
    assert agrees(yaml.safe_load(text), schema.schema())
    assert text.startswith(f"# yaml-language-server: $schema={schema.FILE}\n")


def test_whole_profile_loads_and_agrees():
    assert loads(whole())
    assert agrees(whole(), schema.schema())


WORDS = [..., None, True, -1, 1.5, 99, "", "word", [], [7], ["pose"], ["pose", "pose"], {}]


@pytest.mark.parametrize("path", [p for p in places(whole()) if p], ids="/".join)
def test_what_the_schema_refuses_is_refused_by_the_reader(path):
    for value in WORDS:
        data = changed(path, value)
        if not agrees(data, schema.schema()):
            assert not loads(data), (path, value)


CROSS = {
    "is given twice", "share the axis", "needs the section", "is not used", "name one of the axes",
    "must be a whole number from 0 to", "which is",
}  # fmt: skip
"""What no schema can say: how one part of a profile depends on another."""


@pytest.mark.parametrize("path", [p for p in places(whole()) if p], ids="/".join)
def test_what_the_reader_refuses_is_refused_by_the_schema_unless_it_is_about_two_parts(path):
    for value in WORDS:
        data = changed(path, value)
        if not agrees(data, schema.schema()) or loads(data):
            continue
        with pytest.raises(ProfileError) as caught:
            load(yaml.safe_dump(data))
        for line in str(caught.value).splitlines():
            assert any(words in line for words in CROSS), (path, value, line)


def test_key_that_is_not_known_is_refused_by_both():
    for path in [("colour",), ("layout", "colour"), ("buttons", "jump"), ("wrist", "x")]:
        data = changed(path, 1)
        assert not loads(data)
        assert not agrees(data, schema.schema())
