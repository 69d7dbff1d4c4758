"""What dev and test pairs need that training lacks."""

from ftor.text.programs import UnitSettings
from ftor.text.programs.grammars import grammar_of
from ftor.text.programs.pairs import encode_pairs, learn_programs
from ftor.tuning.look import look
from support.pairs import pairs_of


def rows(first, last):
    numbers = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
    return [(" ".join(numbers[int(d)] for d in str(i)), " ".join(str(i))) for i in range(first, last)]


def found(train, dev, kind, split="dev"):
    looked = look(pairs_of(train), **{split: pairs_of(dev)})
    assert {finding.split for finding in looked.findings} <= {"train", split}
    return [finding for finding in looked.findings if finding.kind == kind]


def test_dev_like_training_has_no_findings():
    looked = look(pairs_of(rows(0, 200)), pairs_of(rows(200, 240)), pairs_of(rows(240, 280)))
    assert [finding for finding in looked.findings if finding.split != "train"] == []


def test_dev_that_equals_training_is_a_warning():
    (finding,) = found(rows(0, 100), rows(0, 100), "same-pairs")
    assert finding.warning
    assert finding.text == "All dev pairs are training pairs."
    (finding,) = found(rows(0, 100), rows(50, 110), "same-pairs")
    assert "50 of 60" in finding.text


def test_swapped_columns_are_noticed():
    swapped = [(target, source) for source, target in rows(200, 240)]
    (finding,) = found(rows(0, 200), swapped, "swapped", "test")
    assert "Swap" in finding.advice
    assert not found(rows(0, 200), swapped, "unknown-words")


def test_new_words_and_tokens_are_named():
    dev = [*rows(200, 210), ("one hundred", "1 0 0"), ("one", "1 !")]
    (finding,) = found(rows(0, 200), dev, "unknown-words")
    assert finding.lines == (11,)
    assert finding.settings == {"training.word_dropout": 0.1}
    (finding,) = found(rows(0, 200), dev, "unknown-words", "test")
    assert finding.settings == {}
    (finding,) = found(rows(0, 200), dev, "unseen-targets")
    assert finding.lines == (12,)
    assert "!" in finding.text


def test_new_words_that_can_be_copied_call_for_copying():
    train = [(f"say {word}", word) for word in ("a", "b", "c", "d") for _ in range(10)]
    dev = pairs_of([("say e", "e")])
    assert look(pairs_of(train), dev).settings["model.copying"] is True
    assert "unseen-targets" not in {finding.kind for finding in look(pairs_of(train), dev).findings}
    assert not look(pairs_of(train), (), dev).settings.get("model.copying")


def test_new_words_in_another_case_call_for_copying_in_any_case():
    names = ("ann", "bob", "cy") * 5
    train = pairs_of(
        [(f"{verb} {one}", f"{verb.upper()} PERSON") for verb in ("call", "ask") for one in names]
    )
    looked = look(train, pairs_of([("call xavier", "CALL XAVIER")]))
    assert looked.settings["model.copying"] is True
    assert looked.settings["data.copy_case"] == "any"
    (finding,) = [one for one in looked.findings if one.kind == "copying"]
    assert "dev targets have new words of their sources in another case (XAVIER)" in finding.text
    assert "Exact match compares case." in finding.advice
    assert "unseen-targets" not in {one.kind for one in looked.findings}


def test_what_copies_in_the_same_case_cannot_write_is_unseen():
    train = [(f"call name{i}", f"CALL name{i}") for i in range(40)]
    (finding,) = found(train, [("call xavier", "CALL XAVIER"), ("call yves", "CALL yves")], "unseen-targets")
    assert finding.lines == (1,)
    assert "(XAVIER)" in finding.text
    numbers = [(f"call {i}", f"CALL {i}") for i in range(40)]
    assert not found(numbers, [("call xavier", "CALL XAVIER")], "unseen-targets")
    (finding,) = found(train, [("call xavier", "CALL XAVIER")], "unseen-targets", "test")
    assert finding.lines == (1,)


def test_longer_pairs_are_counted():
    (source, target) = found(rows(0, 100), rows(98, 110), "longer")
    assert (source.text[:8], target.text[:8]) == ("10 of 12", "10 of 12")


def test_longer_lists_are_counted():
    def program(n):
        names = [f"n{i}" for i in range(n)]
        return " ".join(names), f"[{', '.join(names)}]"

    train = [program(1 + i % 4) for i in range(40)]
    findings = found(train, [program(3), program(6)], "longer")
    assert any("1 of 2 dev programs have longer lists" in finding.text for finding in findings)


def commands(*pairs):
    return [(f"{verb} {thing}", f"do({verb}({thing}))") for verb, thing in pairs]


COLOURS, DOORS = ("red", "blue", "green", "grey"), ("gate", "hatch", "lid", "cover")


def translated(*pairs):
    """Commands whose things have names in the programs that are no words of sources."""
    return [(f"{verb} {thing}", f"do({verb}(x{thing}))") for verb, thing in pairs]


def test_programs_that_the_inferred_grammar_refuses_are_counted():
    colours = ((verb, one) for verb in ("paint", "mix") for one in COLOURS)
    doors = ((verb, one) for verb in ("open", "close") for one in DOORS)
    train = translated(*colours, *doors) * 5
    test = translated(("paint", "red"), ("paint", "lid"), ("paint", "new"), ("open", "lid"))
    (finding,) = found(train, test, "grammar", "test")
    assert finding.warning
    assert finding.lines == (2,)  # line 3 has a unit that training lacks, which is another finding
    assert finding.text.startswith("1 of 4 test programs")
    assert "(xlid as argument 1 of paint)" in finding.text
    assert "--grammar none" in finding.advice


def test_copied_names_are_not_refused():
    names = [f"name{i}" for i in range(40)]
    train = commands(*(("call", name) for name in names), *(("open", one) for one in DOORS))
    assert look(pairs_of(train)).settings["model.copying"] is True
    assert not found(train, commands(("call", "nobody"), ("open", "lid")), "grammar")


def test_copied_names_are_not_refused_if_they_differ_in_case_but_in_other_places_they_are():
    train = [(f"call name{i}", f"do(call(Name{i}))") for i in range(40)]
    train += [(f"open {one}", f"do(open(x{one}))") for one in DOORS]
    assert look(pairs_of(train)).settings["data.copy_case"] == "any"
    (finding,) = found(train, [("call nobody", "do(call(Nobody))"), ("open it", "do(open(It))")], "grammar")
    assert finding.lines == (2,)


THINGS = ("lamp", "door", "heater", "fan", "light", "radio")
SHOWN = [(f"show {one}", f"do(show(all(x{one})))") for one in THINGS]
COUNTED = [(f"count {one}", f"do(count(x{one}))") for one in THINGS]
MIXED = [(f"show any {one}", f"do(show(x{one}))") for one in THINGS]


def kinds(train, *dev):
    looked = look(pairs_of(train), pairs_of(dev))
    wanted = ("unseen-targets", "joined", "grammar")
    return {one.kind: one for one in looked.findings if one.split == "dev" and one.kind in wanted}


def test_symbols_that_are_only_in_joined_units_are_no_unseen_symbols():
    new, apart, strange = (
        ("do all lamp", "do(all(xlamp))"),
        ("show lamp", "do(show(xlamp))"),
        ("x", "do(new(xfan))"),
    )
    found = kinds((SHOWN + COUNTED) * 5, apart, strange, new)
    assert list(found) == ["unseen-targets", "joined"]
    assert found["unseen-targets"].lines == (2,)
    assert "(`new(…)`)" in found["unseen-targets"].text  # not `do`, although it stands alone only here
    assert found["joined"].lines == (1, 3)
    assert found["joined"].text.startswith(
        "2 of 3 dev programs need parts that training has only inside larger"
    )
    assert "line 1: do(show(…)), as in do(show(all(…)));" in found["joined"].text
    assert "line 3: all(…), as in do(show(all(…)))" in found["joined"].text
    assert found["joined"].advice == "Add training pairs that have these parts without the others."


def test_that_advice_helps():
    apart = ("show lamp", "do(show(xlamp))")
    assert list(kinds((SHOWN + COUNTED) * 5, apart)) == ["joined"]
    assert not kinds([*(SHOWN + COUNTED) * 5, ("show door", "do(show(xdoor))")], apart)


def test_smaller_units_are_advised_where_they_help():
    train, test = (SHOWN + COUNTED + MIXED) * 5, ("count every lamp", "do(count(all(xlamp)))")
    found = kinds(train, test)
    assert list(found) == ["joined"]
    assert (
        "With smaller units (data.unit_child_share=2), 1 of these programs can be written."
        in found["joined"].advice
    )
    programs = learn_programs(
        "auto", {"train": pairs_of(train)}, UnitSettings(child_share=2), copying=False
    ).units
    pairs, (new,) = encode_pairs(programs, pairs_of(train)), encode_pairs(programs, pairs_of([test]))
    assert {*new.target} <= {unit for pair in pairs for unit in pair.target}
    assert grammar_of(pairs, programs, None).accepts(new.target)


def test_smaller_units_have_the_numbers_of_arguments_that_the_user_knows():
    """Five, as of `do`, are more than are found."""
    arities = {"do": 5, "show": 1, "count": 1, "all": 1}

    def in_prefix(*rows):
        words = [(source, target.replace("(", " ").replace(")", "").split()) for source, target in rows]
        return pairs_of([(source, " ".join([do, *4 * [last[-1]], *last])) for source, (do, *last) in words])

    train, dev = (SHOWN + COUNTED + MIXED) * 5, ("count every lamp", "do(count(all(xlamp)))")
    looked = look(in_prefix(*train), in_prefix(dev), arities=arities)
    (joined,) = (finding for finding in looked.findings if finding.kind == "joined")
    assert "With smaller units" in joined.advice


def test_functions_with_names_of_words_are_not_copied():
    """Copying is to be tried here, and the sentence has the word `all`."""
    train = [(source, target.replace("x", "")) for source, target in (SHOWN + COUNTED) * 5]
    assert look(pairs_of(train)).open["model.copying"] == (False, True)
    assert list(kinds(train, ("count all lamp", "do(count(all(lamp)))"))) == ["joined"]


def test_parts_of_lists_are_named_with_their_list():
    train = [(f"{one} {other}", f"[on(x{one}), off(x{other})]") for one in "abc" for other in "abc"]
    train += [(f"{one} then {other}", f"[off(x{one}), on(x{other})]") for one in "abc" for other in "abc"]
    (finding,) = found(train * 2, [("a b", "[on(xa), xb]")], "grammar")
    assert "(xb in a list)" in finding.text
