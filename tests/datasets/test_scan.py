"""SCAN: what commands mean, the splits, and the public notation."""

import os
from collections import Counter
from pathlib import Path

import pytest

from ftor.datasets import DATASETS, groupings, scan
from ftor.datasets.published import sha256_of
from ftor.text.reading import DataError, read_pairs
from ftor.text.separability import needed_order
from support.tiny import run_here

SIZES = {"scan-length": (16990, 3920), "scan-around-right": (15225, 4476), "scan-jump": (14670, 7706)}
"""Of the public files."""


@pytest.mark.parametrize(
    ("command", "actions"),
    [
        ("walk", "I_WALK"),
        ("turn left", "I_TURN_LEFT"),
        ("jump right twice", "I_TURN_RIGHT I_JUMP I_TURN_RIGHT I_JUMP"),
        ("turn opposite left", "I_TURN_LEFT I_TURN_LEFT"),
        ("look opposite right", "I_TURN_RIGHT I_TURN_RIGHT I_LOOK"),
        ("turn around left", "I_TURN_LEFT I_TURN_LEFT I_TURN_LEFT I_TURN_LEFT"),
        ("run around left", "I_TURN_LEFT I_RUN I_TURN_LEFT I_RUN I_TURN_LEFT I_RUN I_TURN_LEFT I_RUN"),
        ("walk thrice and run", "I_WALK I_WALK I_WALK I_RUN"),
        ("walk left after run twice", "I_RUN I_RUN I_TURN_LEFT I_WALK"),
    ],
)
def test_meanings(command, actions):
    assert " ".join(action.name for action in scan.interpret(command.split())) == actions


@pytest.mark.parametrize("command", ["", "turn", "walk around", "left walk", "walk and", "walk twice left"])
def test_other_words_are_no_commands(command):
    with pytest.raises(ValueError, match="not a phrase of SCAN"):
        scan.interpret(command.split())


@pytest.mark.parametrize(
    ("command", "kinds"),
    [
        ("walk", ["none", "plain", "once", 1]),
        ("look opposite left twice and run", ["and", "opposite", "twice", 4]),
        ("walk thrice after walk around left thrice", ["after", "around", "thrice", 12]),
        ("walk after jump around right", ["after", "around", "once", 4]),
        ("of another language", ["none", "plain", "once", 0]),
    ],
)
def test_kinds_of_commands(command, kinds):
    assert [grouping.key(command.split(), []) for grouping in groupings("scan-jump")] == kinds


def test_actions_know_their_words():
    words = ["walk", "around", "left", "twice", "after", "look"]
    for action in scan.interpret(words):
        assert {**scan.ACTIONS, **scan.DIRECTIONS}[words[action.word]] == action.name


@pytest.mark.parametrize("name", SIZES)
def test_splits_have_the_sizes_of_the_public_ones(name):
    parts = DATASETS[name].generate()
    assert (len(parts["train"]), len(parts["test"])) == SIZES[name]
    train = {command for command, _ in parts["train"]}
    assert not train & {command for command, _ in parts["test"]}


def test_what_each_split_holds_back():
    length = DATASETS["scan-length"].generate()
    assert max(len(actions.split()) for _, actions in length["train"]) == 22
    assert {len(a.split()) for _, a in length["test"]} == {24, 25, 26, 27, 28, 30, 32, 33, 36, 40, 48}
    jump = DATASETS["scan-jump"].generate()
    assert {command for command, _ in jump["train"] if "jump" in command} == {"jump"}
    around = DATASETS["scan-around-right"].generate()
    assert not [command for command, _ in around["train"] if "around right" in command]


def test_every_command_is_separable_and_needs_up_to_twelve_copies():
    orders, copies = Counter(), 0
    for command in scan.commands():
        words = [action.word for action in scan.interpret(command.split())]
        orders[needed_order(words)] += 1
        copies = max(copies, *Counter(words).values())
    assert orders == {"separable": 19980, "none": 930}
    assert copies == 12


def public(folder, part, lines):
    path = folder / "SCAN" / "length_split" / f"tasks_{part}_length.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"IN: {command} OUT: {actions}\n" for command, actions in lines))


def test_public_files_are_imported_as_pairs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pairs = [("walk", "I_WALK"), ("jump twice", "I_JUMP I_JUMP")]
    public(tmp_path, "train", pairs)
    public(tmp_path, "test", pairs[1:])
    assert run_here("data", "import", "SCAN", "--to", "data").code == 0
    read = read_pairs(Path("data/scan/length_train.tsv"))
    assert [(" ".join(pair.source), " ".join(pair.target)) for pair in read] == pairs
    again = run_here("data", "import", "data", "--to", "copy")
    assert again.code == 0, "pairs are left as they are"
    assert Path("copy/scan/length_test.tsv").read_text() == "jump twice\tI_JUMP I_JUMP\n"


def test_a_bad_line_is_named(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("IN: walk OUT: I_WALK\nIN: walk\n")
    with pytest.raises(DataError, match=r"a.txt:2: expected IN: … OUT: …, found 'IN: walk'"):
        scan.convert(path)


@pytest.mark.skipif(not os.environ.get("FTOR_DATA"), reason="FTOR_DATA does not say where the real data is")
@pytest.mark.parametrize("name", SIZES)
def test_generated_pairs_are_the_published_ones(name):
    dataset = DATASETS[name]
    for part, file in zip(("train", "test"), dataset.files, strict=True):
        path = Path(os.environ["FTOR_DATA"]) / file
        if not path.is_file() or sha256_of(path) != dataset.files[file]:
            pytest.skip(f"the published {file} is not in FTOR_DATA: ftor data fetch {name} brings it")
        read = sorted(tuple(line.split("\t")) for line in path.read_text().splitlines())
        assert read == sorted(dataset.generate()[part])
