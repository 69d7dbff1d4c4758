# Everything runs in .venv, made on first use. Needs Python 3.11 or later, git and make.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test test-fast bench lint docs clean

demo: .venv/ready
	rm -rf runs/demo
	$(BIN)/ftor train mirror --out runs/demo
	$(BIN)/ftor explain runs/demo "a b c d e f g h i j k a b c d e"

PYTEST := $(BIN)/python -m pytest --numprocesses 2 --dist worksteal

test: .venv/ready
	$(PYTEST)

test-fast: .venv/ready
	$(PYTEST) -m "not slow"

bench: .venv/ready
	for name in reordering fertility recurrence grammar programs training decoding output_length import_time latency device serving arithmetic growth performance; do \
	    $(BIN)/python benchmarks/$$name.py || exit 1; \
	done

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/mypy

docs: .venv/ready
	$(BIN)/mkdocs build --strict

clean:
	rm -rf .venv site
	find src -name '*.nb[ic]*' -delete

# The constraints come with the CPU build of torch wherever there is one: never install without them.
.venv/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -q "pip>=25.1"
	$(BIN)/python -m pip install -q -c constraints.txt --group dev -e .
	touch $@
