"""Models of programs: trained on units, constrained by the inferred grammar, asked for texts."""

import json
from dataclasses import replace

import pytest

import ftor
from ftor.grammar import Grammar
from ftor.text.programs import Programs
from ftor.text.reading import Pair, read_pairs
from support.tiny import run_here, set_arguments

ROOMS, THINGS = ["kitchen", "hall", "attic"], ["lamp", "fan"]
PAIRS = [
    (f"turn {state} the {thing} in the {room}", f"(set (device {thing} (room {room})) (state {state}))")
    for state in ("on", "off")
    for thing in THINGS
    for room in ROOMS
]


def write(path, pairs):
    path.write_text("".join(f"{source}\t{target}\n" for source, target in pairs), "utf-8")
    return path


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Give the folder of a model of smart-home programs, and its files."""
    folder = tmp_path_factory.mktemp("home")
    for name in ("train", "dev", "test"):
        write(folder / f"{name}.tsv", PAIRS)
    settings = {"model.rescorer": "lstm", "model.rescorer_hidden": 8, "training.alignment_epochs": 1}
    files = [part for split in ("train", "dev", "test") for part in (f"--{split}", folder / f"{split}.tsv")]
    finished = run_here("train", "programs", *files, "--out", folder / "model", *set_arguments(settings))
    assert finished.code == 0, finished.err
    assert "targets: programs (s-expression)" in finished.err
    return folder


def test_outputs_are_programs_of_the_inferred_grammar(home):
    model = ftor.load(home / "model")
    for prediction in model.predict([source for source, _ in PAIRS]):
        assert prediction.well_formed
        assert model.programs.encode(prediction.text) == list(prediction.tokens)


def test_gold_programs_are_judged_by_their_text(home):
    model = ftor.load(home / "model")
    predictions = model.predict([source for source, _ in PAIRS])
    right = [(one.source[1:], one.text) for one in predictions]
    path = write(home / "right.tsv", [(" ".join(source), text) for source, text in right])
    assert model.evaluate(path).exact_match == 1
    other = write(home / "other.tsv", [(source, f"(oops {text})") for source, text in PAIRS])
    assert model.evaluate(other).exact_match == 0


def test_the_folder_keeps_the_units(home, tmp_path):
    model = ftor.load(home / "model")
    model.save(tmp_path / "again")
    again = ftor.load(tmp_path / "again")
    assert again.programs.to_dict() == model.programs.to_dict()
    sentence = [PAIRS[0][0]]
    assert again.predict(sentence)[0].text == model.predict(sentence)[0].text


def test_a_damaged_description_is_named(home, tmp_path):
    ftor.load(home / "model").save(tmp_path / "damaged")
    (tmp_path / "damaged/programs.json").write_text('{"notation": 3}')
    with pytest.raises(ftor.errors.FtorError, match=r"programs\.json"):
        ftor.load(tmp_path / "damaged")


def test_without_the_grammar_text_is_still_written(home):
    predictions = ftor.load(home / "model").predict([source for source, _ in PAIRS], grammar=None)
    assert all(isinstance(prediction.text, str) for prediction in predictions)


def train_with(folder, train, dev):
    """Train on pairs, with a test file that has the dev pairs."""
    finished = run_here(
        *("train", "programs", "--train", write(folder / "train.tsv", train)),
        *("--dev", write(folder / "dev.tsv", dev), "--test", write(folder / "test.tsv", dev)),
        *("--out", folder / "model"),
        *set_arguments({"model.max_fertility": 9, "training.alignment_epochs": 1}),
    )
    assert finished.code == 0, finished.err
    return finished.err.replace("\n", " ")


def test_a_bad_dev_or_test_target_costs_only_itself(tmp_path):
    spaced = PAIRS[5][1].replace("(state", "( state")
    told = train_with(tmp_path, PAIRS, [*PAIRS[:5], ("turn on", "(set (device"), (PAIRS[5][0], spaced)])
    for split in ("dev", "test"):
        assert f"{split}.tsv:6: '(' is not closed; the model cannot write this target" in told
        assert f"{split}.tsv:7: it would be written as" in told
    model = ftor.load(tmp_path / "model")
    assert model.programs is not None
    evaluation = model.examine(tmp_path / "test.tsv")
    assert not evaluation.right[5:].any()
    assert evaluation.golds[0] != PAIRS[0][1].split()  # units
    metrics = json.loads((tmp_path / "model/metrics.json").read_text("utf-8"))
    assert metrics["test_grammar"]["count"] == 7


def test_without_any_dev_target_in_the_notation_training_stops(tmp_path):
    finished = run_here(
        *("train", "programs", "--train", write(tmp_path / "train.tsv", PAIRS)),
        *("--dev", write(tmp_path / "dev.tsv", [("turn on", "(set (device")]), "--out", tmp_path / "model"),
    )
    assert finished.code == 1
    assert "dev.tsv: no target is written in the notation of" in finished.err.replace("\n", " ")


def test_a_bad_training_target_leaves_all_as_tokens(tmp_path):
    told = train_with(tmp_path, [*PAIRS, ("turn on", "(set (device")], PAIRS[:5])
    assert f"line {len(PAIRS) + 1}: '(' is not closed" in told
    assert ftor.load(tmp_path / "model").programs is None


def test_grammar_none_turns_the_inferred_grammar_off(tmp_path):
    finished = run_here(
        *("train", "programs", "--train", write(tmp_path / "train.tsv", PAIRS), "--out", tmp_path / "model"),
        *set_arguments({"decoding.grammar": "none", "training.alignment_epochs": 1}),
    )
    assert finished.code == 0, finished.err
    model = ftor.load(tmp_path / "model")
    assert (model.grammar, model.programs is None) == (None, False)


def test_units_do_not_change_on_the_way_to_the_folder_and_back(home):
    pairs = read_pairs(home / "train.tsv")
    assert isinstance(pairs[0], Pair)
    programs = Programs.from_dict(json.loads((home / "model/programs.json").read_text("utf-8")))
    assert [programs.decode(programs.encode(pair.target_text)) for pair in pairs] == [t for _, t in PAIRS]


def test_plain_tokens_may_be_units(tmp_path):
    pairs = [
        (f"turn {state} the {thing}", f"please set {thing} to {state} now")
        for state in ("on", "off")
        for thing in THINGS
    ] * 3
    settings = {"data.programs": "tokens", "training.alignment_epochs": 1}
    path = write(tmp_path / "train.tsv", pairs)
    finished = run_here(
        *("train", "programs", "--train", path, "--dev", path, "--test", path, "--out", tmp_path / "model"),
        *set_arguments(settings),
    )
    assert finished.code == 0, finished.err
    assert "targets: tokens, 5.0 units each, not 6.0 tokens; there are 7 units" in finished.err
    model = ftor.load(tmp_path / "model")
    assert model.grammar is None
    assert model.programs.encode("please set lamp to on now") == ["please·set", "lamp", "to", "on", "now"]
    outputs = [["please", "set", "fan", "to", "off", "now"] for _ in pairs]  # other units, the same text
    right = sum(target == "please set fan to off now" for _, target in pairs)
    assert model.judge(read_pairs(path), outputs).metrics.exact_match == right / len(pairs)
    assert "·" not in model.predict([pairs[0][0]])[0].text


def test_units_of_tokens_take_a_grammar_over_tokens(tmp_path):
    grammar = tmp_path / "lamps.cfg"
    grammar.write_text(
        "Query -> 'please' 'set' Thing 'to' State\nThing : lamp | fan\nState : on | off\n", "utf-8"
    )
    pairs = [
        (f"turn {state} the {thing}", f"please set {thing} to {state}")
        for state in ("on", "off")
        for thing in ("lamp", "fan")
    ] * 5
    path = write(tmp_path / "train.tsv", pairs)
    units = {"tokens": ["please·set", "lamp", "to", "on"], "grammar": ["please·set·lamp·to", "on"]}
    for programs, encoded in units.items():
        settings = {"data.programs": programs, "decoding.grammar": str(grammar), "training.epochs": 1}
        folder = tmp_path / programs
        finished = run_here("train", "programs", "--train", path, "--out", folder, *set_arguments(settings))
        assert finished.code == 0, finished.err
        model = ftor.load(folder)
        assert model.programs.encode("please set lamp to on") == encoded
        texts = [one.text for one in model.predict([source for source, _ in pairs])]
        assert {tuple(text.split()[:2]) for text in texts} == {("please", "set")}
        assert all(model.derives(text.split(), ()) for text in texts)


def test_units_of_a_grammar_need_a_grammar(tmp_path):
    path = write(tmp_path / "train.tsv", PAIRS)
    finished = run_here(
        *("train", "programs", "--train", path, "--out", tmp_path / "model"),
        *set_arguments({"data.programs": "grammar"}),
    )
    assert finished.code == 1
    assert 'data.programs = "grammar": expected a grammar in decoding.grammar' in finished.err


def test_the_same_text_in_other_units_is_right(home):
    model = ftor.load(home / "model")
    pairs = read_pairs(home / "test.tsv")
    single = ["set", "device", "lamp", "room", "hall", "state", "on"]
    assert model.programs.encode(model.programs.decode(single)) != single
    wanted = [pair for pair in pairs if pair.target_text == model.programs.decode(single)]
    encoded = [replace(pair, target=tuple(model.programs.encode(pair.target_text))) for pair in wanted]
    assert model.judge(encoded, [single] * len(encoded)).metrics.exact_match == 1


OWN_GRAMMAR = """
Command -> '(' 'set' Device '(' 'state' State ')' ')'
Device -> '(' 'device' Thing '(' 'room' Room ')' ')'
Thing : lamp
Room : kitchen | hall
State : on | off
"""


def test_your_own_grammar_is_compiled_to_units(home, tmp_path):
    (tmp_path / "mine.cfg").write_text(OWN_GRAMMAR, "utf-8")
    model = ftor.load(home / "model")
    for prediction in model.predict([source for source, _ in PAIRS], grammar=tmp_path / "mine.cfg"):
        assert "(device lamp (room " in prediction.text
        assert "attic" not in prediction.text


def test_training_with_your_own_grammar(tmp_path):
    (tmp_path / "mine.cfg").write_text(
        OWN_GRAMMAR.replace("lamp", "lamp | fan").replace("hall", "hall | attic")
    )
    finished = run_here(
        *("train", "programs", "--train", write(tmp_path / "train.tsv", PAIRS), "--out", tmp_path / "model"),
        *set_arguments({"decoding.grammar": str(tmp_path / "mine.cfg"), "training.alignment_epochs": 1}),
    )
    assert finished.code == 0, finished.err
    assert "the grammar derives" not in finished.err
    model = ftor.load(tmp_path / "model")
    assert model.grammar.accepts(model.programs.encode(PAIRS[0][1]))
    assert all(prediction.well_formed for prediction in model.predict([source for source, _ in PAIRS]))


def test_the_grammar_is_exported_in_words(home):
    finished = run_here("grammar", "export", home / "model", "--format", "gbnf")
    assert (finished.code, finished.err) == (0, "")
    grammar = Grammar.parse(finished.out, "exported", "gbnf")
    for _, target in PAIRS:
        assert grammar.accepts(target.replace("(", " ( ").replace(")", " ) ").split())
    assert not grammar.accepts(["(", "set", ")"])


def test_the_explanation_shows_the_program(home):
    finished = run_here("explain", home / "model", PAIRS[0][0])
    assert finished.code == 0, finished.err
    (program,) = ftor.load(home / "model").predict([PAIRS[0][0]])
    lines = [line.split(maxsplit=1) for line in finished.out.splitlines() if line.strip()]
    assert ["program", program.text] in [[one.strip() for one in line] for line in lines]
