"""Flags and YAML → typed settings; whatever cannot be meant is refused with its name, its value and its source."""

import json
from typing import Any

import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.run.spellings import SPELLINGS

from model_accuracy_eval.errors import BadValue, UnknownName, UsageError
from model_accuracy_eval.records import Settings
from model_accuracy_eval.run.setting_values import Given, merge, read, read_given, yaml_values
from model_accuracy_eval.settings import table

NAMES = [setting.name for setting in table()]


def one(name: str, value: Any, source: str = "the command line") -> Any:
    return read({name: value}, source)[name.replace("-", "_")]


def test_every_setting_is_spelled_below() -> None:
    """A new setting needs a line in the table of spellings."""
    assert {name for name, *_ in SPELLINGS} == set(NAMES)


@pytest.mark.parametrize(("name", "flag", "value", "meant"), SPELLINGS)
def test_a_flag_and_yaml_mean_the_same(name: str, flag: str, value: Any, meant: Any) -> None:
    """The text of the command line and the value of the file become the same typed value."""
    for found in (
        one(name, flag),
        one(name, value),
        one(name, yaml_values(yaml.safe_dump({name: value}), "f")[name].value),
    ):
        assert found == meant
        assert type(found) is type(meant)


def test_a_gate_needs_no_quotes_in_yaml() -> None:
    """YAML takes `dataset: metric >= number` for a mapping; it is the gate that it looks like."""
    values = yaml_values("gate:\n  - demo: avg@5 >= 60\n  - 'other: pass@5 > 2'\n", "f")
    assert one("gate", values["gate"].value) == ("demo: avg@5 >= 60", "other: pass@5 > 2")
    mapping = yaml_values("gate:\n  demo: avg@5 >= 60\n  other: pass@5 > 2\n", "f")
    assert one("gate", mapping["gate"].value) == ("demo: avg@5 >= 60", "other: pass@5 > 2")
    block = yaml_values("gate: |\n  demo: avg@5 >= 60\n  other: pass@5 > 2\n", "f")
    assert one("gate", block["gate"].value) == ("demo: avg@5 >= 60", "other: pass@5 > 2")


BAD: list[tuple[str, Any, str]] = [
    ("limit", -1, "expected 'int' >= 0"),
    ("replicas", 0, "expected 'int' >= 1"),
    ("retries", -1, "expected 'int' >= 0"),
    ("num-return-sequences", 0, "expected 'int' >= 1"),
    ("temperature", -0.1, "expected 'float' >= 0"),
    ("top-p", 0, "expected 'float' > 0"),
    ("max-tokens", 0, "expected 'int' >= 1"),
    ("seed", -1, "expected 'int' >= 0"),
    ("max-failed-requests", -1, "expected 'int' >= 0"),
    ("concurrency", 0, "expected 'int' >= 1"),
    ("ready-timeout", 0, "expected 'float' > 0"),
    ("port", 0, "expected 'int' >= 1"),
    ("confidence", "50", "expected"),
    ("limit", "many", "expected 'int | null'"),
    ("match", "perhaps", "expected one of auto, contains"),
    ("thinking", "budget=0", "expected server, on, off, or budget=N"),
    ("num-return-sequences", 2.5, "expected 'int'"),
    ("num-return-sequences", None, "expected 'int'"),
    ("num-return-sequences", True, "expected 'int'"),
    ("temperature", "nan", "expected 'float' >= 0"),
    ("temperature", "inf", "expected a finite number"),
    ("top-p", "1.01", "expected 'float' <= 1"),
    ("generation", "[1]", "expected 'object'"),
    ("generation", "{top_k: 20}", "malformed"),
    ("k", "1,x", "expected 'int'"),
    ("k", None, "expected 'array'"),
    ("port", 65536, "expected 'int' <= 65535"),
    ("label", "a/b", "expected 'str' matching regex"),
    ("label", "a\n", "expected 'str' matching regex"),
    ("out", None, "expected 'str'"),
    ("sandbox", "chroot", "expected one of auto, docker, bwrap, uid, none"),
]


@pytest.mark.parametrize(("name", "value", "reason"), BAD)
def test_what_cannot_be_meant_is_refused(name: str, value: Any, reason: str) -> None:
    """One sentence with the setting, the value, the source and what was expected."""
    with pytest.raises(BadValue) as error:
        one(name, value, "eval.yaml")
    sentence = error.value.sentence
    assert sentence.startswith(f"The setting '{name}' cannot be {value!r} (eval.yaml): ")
    assert reason in sentence, sentence
    assert sentence.endswith(".")
    assert "\n" not in sentence
    assert (error.value.exit_code, error.value.stage) == (2, "configuration")


@pytest.mark.parametrize(
    ("key", "near"),
    [("dataset", "datasets"), ("max_token", "max-tokens"), ("temprature", "temperature"), ("tokens", "max-tokens")],
)
def test_an_unknown_setting_is_answered_with_the_nearest(key: str, near: str) -> None:
    """And with the source it stands in."""
    with pytest.raises(UnknownName) as error:
        read({key: 1}, "eval.yaml")
    assert f"There is no setting called '{key}' in eval.yaml; did you mean " in error.value.sentence
    assert near in error.value.sentence


def test_both_spellings_of_a_key_are_known() -> None:
    """max-tokens and max_tokens."""
    assert read({"max-tokens": 5}, "f") == read({"max_tokens": 5}, "f") == {"max_tokens": 5}


@given(
    st.dictionaries(st.sampled_from(["limit", "port", "concurrency"]), st.integers(1, 99)),
    st.dictionaries(st.sampled_from(["limit", "port", "concurrency"]), st.integers(1, 99)),
)
def test_flags_win_over_the_file_and_the_file_over_defaults(file: dict[str, int], flags: dict[str, int]) -> None:
    """Setting by setting."""
    merged = msgspec.to_builtins(merge(read(file, "file"), read(flags, "flags")))
    defaults = msgspec.to_builtins(Settings())
    assert merged == defaults | file | flags


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(2**60), 2**60)
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    )
)
def test_any_value_is_typed_or_refused(value: Any) -> None:
    """Whatever a file holds: a typed value or a sentence, never another error."""
    for name in NAMES:
        try:
            layer = read({name: value}, "f")
        except BadValue:
            continue
        msgspec.convert(msgspec.to_builtins(merge(layer)), Settings)


@pytest.mark.parametrize(
    ("protocol", "n", "temperature", "generation", "k"),
    [
        ("greedy", 1, 0.0, {}, (1,)),
        ("pass@1", 10, 0.8, {"top_k": 40}, (1,)),
        ("pass@10", 100, 0.8, {"top_k": 40}, (1, 10)),
    ],
)
def test_a_protocol_stands_for_four_settings(
    protocol: str, n: int, temperature: float, generation: dict[str, int], k: tuple[int, ...]
) -> None:
    """What is given in the same layer or a later one wins over it."""
    layer = read({"sampling": protocol}, "f")
    settings = merge(layer)
    assert (settings.num_return_sequences, settings.temperature, settings.k) == (n, temperature, k)
    assert settings.generation == generation
    assert merge(layer | {"temperature": 0.3}).temperature == merge(layer, {"temperature": 0.3}).temperature == 0.3
    assert merge({"temperature": 0.3}, layer).temperature == temperature


def test_an_object_on_the_command_line_is_json() -> None:
    """Nested fields arrive as they are."""
    body = {"chat_template_kwargs": {"enable_thinking": False}, "stop": ["a", "b"]}
    assert one("generation", json.dumps(body)) == body


def test_a_yaml_file_holds_settings() -> None:
    """Lines of `name: value`; an empty file and one of comments hold none."""
    assert yaml_values("datasets: [a, b]\nlimit: 5\n", "f") == {
        "datasets": Given(["a", "b"], "f, line 1"),
        "limit": Given(5, "f, line 2"),
    }
    assert yaml_values("", "f") == yaml_values("# nothing\n", "f") == {}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("limit: 1\na: [1", "eval.yaml, line 2, is not YAML: "),
        ("gate: gsm8k: avg@5 >= 70", "eval.yaml, line 1, is not YAML: mapping values are not allowed here; a value with ': '"),
        ("\x00", "eval.yaml is not YAML: "),
        ("!!python/object/apply:os.system [ls]", "eval.yaml, line 1, is not YAML: "),
        ("limit: !!python/object/apply:os.system [ls]", "eval.yaml, line 1, is not YAML: "),
        ("- limit", "eval.yaml must hold settings as 'name: value' lines, but it holds list."),
        ("limit", "eval.yaml must hold settings as 'name: value' lines, but it holds str."),
    ],
)  # fmt: skip
def test_what_is_no_settings_file_is_refused(text: str, sentence: str) -> None:
    """In one line, with the file's name and the line in it; nothing in it is executed."""
    with pytest.raises(BadValue) as error:
        yaml_values(text, "eval.yaml")
    assert error.value.sentence.startswith(sentence)
    assert "\n" not in error.value.sentence


ANYTHING = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from(SPELLINGS)), max_size=5, unique_by=lambda line: line[1][0]
)


@given(ANYTHING)
def test_a_file_means_what_its_lines_say_and_each_is_known_by_its_number(
    written: list[tuple[int, tuple[str, str, Any, Any]]],
) -> None:
    """Between blank lines; a wrong line is told with its number, and so is a name that is there twice."""
    text, lines = "", {}
    for blanks, (name, _, value, _) in written:
        text += "\n" * blanks
        lines[name] = text.count("\n") + 1
        text += f"{name}: {json.dumps(value)}\n"
    values = yaml_values(text, "f")
    assert {name: found.place for name, found in values.items()} == {
        name: f"f, line {at}" for name, at in lines.items()
    }
    assert read_given(values) == {name.replace("-", "_"): meant for _, (name, _, _, meant) in written}
    end = text.count("\n") + 1
    with pytest.raises(UsageError, match=rf"There is no setting called 'limt' in f, line {end}; did you mean limit\?"):
        read_given(yaml_values(text + "limt: 5\n", "f"))
    if "limit" not in lines:
        sentence = rf"The setting 'limit' cannot be -5 \(f, line {end}\): expected 'int' >= 0\."
        with pytest.raises(BadValue, match=sentence):
            read_given(yaml_values(text + "limit: -5\n", "f"))
    for name, at in lines.items():
        with pytest.raises(BadValue, match=f"'{name}' is there twice: f, line {at}, and f, line {end}"):
            yaml_values(f"{text}{name.replace('-', '_')}: 1\n", "f")


def test_the_table_of_settings_is_complete() -> None:
    """Every setting has a sentence, a group, a default that its own type accepts, and a name for the command line."""
    settings = list(table())
    assert [setting.field for setting in settings] == list(Settings.__struct_fields__)
    for setting in settings:
        assert setting.about.endswith((".", "`")), setting.name
        assert setting.group, setting.name
        assert "_" not in setting.name
        assert msgspec.convert(setting.default, setting.type) == setting.default
    assert [setting.name for setting in settings if setting.short == "-n"] == ["num-return-sequences"]
    assert next(setting for setting in settings if setting.name == "mode").choices == ("all", "infer", "eval")
