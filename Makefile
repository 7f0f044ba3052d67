# Two verbs are all that a fresh machine needs: `make demo` and `make test`. What is done is not done again.

PYTHON3 = $(or $(PYTHON),python3)

.PHONY: help demo view pictures test lint build bench chaos soak prove prove-motion mutate clean distclean env env-dev

help:
	@echo "make demo         simulated arm, driver, arbiter, teleop and a recorded pad session"
	@echo "                  HEADLESS=1 prints plain lines; STAY=1 leaves everything running"
	@echo "make view         the arm in a browser: whatever runs, SIM=1 a simulated one of its own; only looks"
	@echo "make test         all tests, against the built packages; ARGS=\"-k stop\" goes to pytest"
	@echo "make lint         style, types, import contracts, description and manifests; builds nothing"
	@echo "make build        the environment and the packages, nothing else"
	@echo "make bench        the benchmarks; writes benchmarks/results.json"
	@echo "make chaos        kill and stop the nodes 200 times while the arm moves; ARGS=\"--kills 20\""
	@echo "make soak         the driver's core on a line with faults, seed after seed; ARGS=\"--seeds 5000\""
	@echo "make prove        the arbiter: every state, millions of random steps, broken cores; STEPS=100000000"
	@echo "make prove-motion a million ticks of motion among random things, each judged; ARGS=\"--seeds 5\""
	@echo "make mutate       faults put into arbiter, gate and watchdogs: do the tests find them? ARGS=\"--only gate\""
	@echo "make pictures     the pictures of the README, anew"
	@echo "make clean        remove what was built; distclean also removes the environment"
	@echo "tools/run CMD     any command with everything sourced: tools/run alpha5-wire --help"

env env-dev:
	@command -v $(PYTHON3) >/dev/null || { echo "Python is missing; install with:  apt-get install -y python3 python3-dev python3-venv   (Fedora: dnf install -y python3 python3-devel)"; exit 1; }
	@$(PYTHON3) tools/bootstrap.py $(if $(filter env-dev,$@),--dev)

build: env
	@$(PYTHON3) tools/build.py

demo: env
	@$(PYTHON3) tools/build.py --up-to reach_alpha5_bringup
	@tools/run python3 tools/demo.py $(ARGS)

view: env
	@$(PYTHON3) tools/build.py --up-to reach_alpha5_bringup
	@tools/run $(if $(filter 1,$(SIM)),python3 tools/view_sim.py,alpha5-view) $(ARGS)

pictures: env-dev
	@$(PYTHON3) tools/build.py
	@tools/run python3 tools/pictures.py $(ARGS)

test: env-dev
	@$(PYTHON3) tools/build.py
	@tools/run python3 tools/test.py $(ARGS)

lint: env-dev
	@.venv/bin/python tools/lint.py

bench: env-dev
	@$(PYTHON3) tools/build.py
	@tools/run python3 -m benchmarks $(ARGS)

chaos: env-dev
	@$(PYTHON3) tools/build.py
	@tools/run python3 tools/chaos.py $(ARGS)

soak: env-dev
	@$(PYTHON3) tools/build.py
	@tools/run python3 tools/soak.py $(ARGS)

prove: env-dev
	@$(PYTHON3) tools/build.py
	@tools/run python3 tools/prove.py $(if $(STEPS),--steps $(STEPS)) $(ARGS)

prove-motion: env-dev
	@$(PYTHON3) tools/build.py
	@tools/run python3 tools/prove_motion.py $(ARGS)

mutate: env-dev
	@$(PYTHON3) tools/build.py
	@tools/run python3 tools/mutate.py $(ARGS)

clean:
	rm -rf build install log .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -path ./.venv -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean
	rm -rf .venv
