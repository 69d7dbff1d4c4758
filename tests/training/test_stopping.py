"""Ctrl-C and SIGTERM."""

import signal
import threading

import pytest

from ftor.training.stopping import stop_requests

SIGNALS = [signal.SIGINT, signal.SIGTERM]


@pytest.mark.parametrize("number", SIGNALS)
def test_the_first_signal_is_a_request(number):
    with stop_requests() as request:
        assert not request.asked
        signal.raise_signal(number)
        assert request.asked


def test_a_second_ctrl_c_stops_at_once():
    with stop_requests():
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_a_sigterm_after_the_first_signal_ends_the_process():
    with stop_requests():
        signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


@pytest.mark.parametrize("asks", [False, True])
def test_the_handlers_before_come_back(asks):
    before = [signal.getsignal(number) for number in SIGNALS]
    with stop_requests():
        assert [signal.getsignal(number) for number in SIGNALS] != before
        if asks:
            signal.raise_signal(signal.SIGTERM)
    assert [signal.getsignal(number) for number in SIGNALS] == before


def test_they_come_back_after_an_error():
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(RuntimeError), stop_requests():
        raise RuntimeError
    assert signal.getsignal(signal.SIGINT) == before


def test_other_threads_receive_no_signals():
    before, seen = signal.getsignal(signal.SIGINT), []

    def work():
        with stop_requests() as request:
            seen.append((request.asked, signal.getsignal(signal.SIGINT)))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [(False, before)]
