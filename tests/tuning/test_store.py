"""Trials on disk: the same draws however often the process is killed, and pruning."""

import pytest

from ftor.tuning.store import JOURNAL, Store, StudyError
from ftor.tuning.trials import Result
from support.pretended_runs import plan_in

SEVERAL = """
"training.length_weight" = { low = 0.1, high = 10.0, log = true }
"model.width" = { low = 2, high = 64, step = 2 }
"model.decoder_hidden" = { choices = [128, 200, 256, 300] }
"model.temperature" = { low = 1.0, high = 5.0 }
"""


@pytest.mark.parametrize(("epochs", "spared"), [(3, 0), (5, 1), (50, 10)])
def test_pruning_spares_the_first_fifth_of_the_epochs(tmp_path, epochs, spared):
    store = Store(plan_in(tmp_path, prune=True, epochs=epochs), tmp_path)
    for number in range(5):
        store.draw()
        for epoch in range(1, epochs + 1):
            store.keep_epoch(number, epoch, 0.5)
        for seed in store.plan.seeds:
            store.keep(number, seed, Result(0.5, 1.0, 1, 1.0))
        store.end(number, "complete")
    store.draw()
    hopeless = []
    for epoch in range(1, spared + 3):
        store.keep_epoch(5, epoch, 0.1)
        hopeless.append(store.is_hopeless(5))
    assert hopeless == [False] * spared + [True] * 2
    store.keep_epoch(5, spared + 3, 0.6)
    assert not store.is_hopeless(5)


@pytest.mark.parametrize("sampler", ["random", "tpe"])
def test_a_draw_that_is_cut_off_anywhere_comes_to_the_same_values(tmp_path, sampler):
    plan = plan_in(tmp_path, SEVERAL, sampler=sampler)

    def draw_all(folder):
        store = Store(plan, folder)
        store.complete_draws()
        while len(store.trials()) < 4:
            store.draw()
        return [trial.values for trial in store.trials()]

    whole = draw_all(tmp_path)
    assert all(len({values[key] for values in whole}) > 1 for key in plan.space.keys)
    lines = (tmp_path / JOURNAL).read_text().splitlines(keepends=True)
    for kept in range(len(lines)):
        folder = tmp_path / str(kept)
        folder.mkdir()
        (folder / JOURNAL).write_text("".join(lines[:kept]) + lines[kept][:9])
        assert draw_all(folder) == whole


def test_a_search_with_other_settings_is_refused(tmp_path):
    Store(plan_in(tmp_path), tmp_path)
    with pytest.raises(StudyError, match="sampler: expected random, found tpe"):
        Store(plan_in(tmp_path, sampler="tpe"), tmp_path)
    other = '"training.length_weight" = { low = 0.1, high = 9.0 }'
    with pytest.raises(StudyError, match=r"space: training.length_weight: expected .*10.0.*, found .*9.0"):
        Store(plan_in(tmp_path, other), tmp_path)
