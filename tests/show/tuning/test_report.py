import re

from ftor.show.tuning.report import print_report


def test_all_trials_and_the_winner(search, capsys):
    print_report(*search)
    out = capsys.readouterr().out
    assert "transducer: dev exact match, 5 epochs" in out
    rows = [re.split(r" *│ *", line.strip("│ ")) for line in out.splitlines() if line.startswith("│")]
    assert rows == [
        ["0", "3.2", "highway", "32", "50.0 %", "60.0 %", "55.0 %", "complete, unchanged"],
        ["1", "1.25", "plain", "16", "80.0 %", "70.0 %", "75.0 %", "complete"],
        ["2", "0.5", "plain", "8", "80.0 %", "80.0 %", "80.0 %", "complete"],
        ["3", "9", "highway", "64", "–", "–", "–", "failed"],
        ["4", "7", "plain", "20", "10.0 %", "–", "–", "pruned"],
        ["2", "80.0 %", "–", "–", "failed with it"],
        ["1", "75.0 %", "90.0 %", "80.0 %", "winner"],
        ["0", "55.0 %", "70.0 %", "60.0 %", "unchanged"],
    ]
    assert "trial 3 failed: seed 1000: it [red] broke" in out
    assert "trial 1 wins: dev exact match 80.0 %" in out
