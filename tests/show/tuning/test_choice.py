"""The table of what a race tried."""

from rich.console import Console

from ftor.show.tuning.choice import choice_table
from ftor.tuning.race.choice import Choice, Tried

RECOMBINED = "words-first-untaught+recombined"


def tried(candidate, meaning, epochs, score, seconds, seed=0, on_all_pairs=False):
    return Tried(
        candidate=candidate,
        meaning=meaning,
        seed=seed,
        epochs=epochs,
        on_all_pairs=on_all_pairs,
        score=score,
        seconds=seconds,
    )


def lines_of(choice):
    """Return the lines that are shown in 80 columns, with single blanks."""
    console = Console(width=80)
    with console.capture() as capture:
        console.print(choice_table(choice))
    return [" ".join(line.split()) for line in capture.get().splitlines()]


def test_in_80_columns_every_name_and_meaning_is_whole():
    choice = Choice(
        winner=RECOMBINED,
        settings={},
        promised=0.75,
        kept=True,
        held_out={"random": 50, "harder": 25, "made longer": 25, "dev": 0},
        tried=[
            tried(RECOMBINED, "R→F without an aligner; recombined pairs", 4, 0.5, 1000.0),
            tried(RECOMBINED, "R→F without an aligner; recombined pairs", 28, 0.75, 9000.0),
            tried(RECOMBINED, "R→F without an aligner; recombined pairs", 28, 0.8, 345.0, seed=1),
            tried("words-first-untaught", "R→F without an aligner", 55, 0.7, 99.0),
            tried("lstm", "a plain LSTM seq2seq with attention", 55, 0.0, 99.0),
        ],
        short=False,
        findings=[],
    )
    lines = lines_of(choice)
    assert "what was tried (held-out pairs: 50 random, 25 harder, 25 made longer)" in lines
    assert "│ words-first-untaught │ yes │ 28 │ 75.0 % │ 9345 │" in lines
    assert "│ words-first-untaught │ │ 55 │ 70.0 % │ 99 │" in lines
    assert (
        lines[-2:]
        == ["lstm a plain LSTM seq2seq with attention", "words-first-untaught R→F without an aligner"][::-1]
    )
    assert choice.reason in " ".join(lines), "the reason is below the table"


def test_without_a_race_there_is_the_reason_and_no_table():
    choice = Choice(
        winner="taught",
        settings={},
        promised=None,
        kept=True,
        held_out={"random": 0, "harder": 0, "dev": 0},
        tried=[tried("taught", "F→R; an aligner teaches", 200, 1.0, 9.0, on_all_pairs=True)],
        short=False,
        findings=[],
    )
    assert lines_of(choice) == ["taught (F→R; an aligner teaches). There was no race."]
