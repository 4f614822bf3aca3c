# The suites, one command for all of them, and the checks that take longer.

## TESTS="t/x.t" which of t/*.t "make test-nginx" runs, and options of prove

TESTS ?=

## SUITE_JOBS=4 how many suites "make test" runs at the same time

# in the order in which they start: the longest first
SUITES := test-browser test-e2e test-nginx test-upstream test-race test-bench \
          test-tools test-unit test-sim test-build

# Programs of the suites are built before they start: two makes at a time would
# build one file twice.  nginx with the module built in takes objects of the other, so
# it comes second.
TEST_PROGRAMS = $(filter-out $(NGINX),$(PRODUCTS)) $(CHECKOUT_TESTED) \
                $(BENCH_PROGRAMS) $(NGINX_PLAIN)
TEST_PROGRAMS_LATER = $(NGINX) $(UNIT_PROGS) $(UNIT_REPLAYS) \
                      $(BUILD)/sim/unit race-programs

# the jobs of the make that called, if it was given any
BUILD_JOBS = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))

.PHONY: deps test check test-nginx test-build test-valgrind

deps: ## install what building and testing need (apt on Debian; root or sudo)
	@scripts/install-deps.sh build test

test: ## build what is missing, install what the tests need, run every suite
	@scripts/install-deps.sh build test browser
	@$(MAKE) --no-print-directory check

check: ## run every suite on what is built, installing nothing
	@$(MAKE) -s --no-print-directory $(BUILD_JOBS) $(TEST_PROGRAMS)
	@$(MAKE) -s --no-print-directory $(BUILD_JOBS) $(TEST_PROGRAMS_LATER)
	@INSTALL_DEPS=no MAKE='$(MAKE)' scripts/run-suites.sh $(SUITES)

test-nginx: $(NGINX) ## t/*.t with Test::Nginx on build/nginx
	@scripts/prove.sh $(TESTS)

test-build: $(NGINX) $(NGINX_PLAIN) $(MODULE_SO) ## the build itself: scripts, makefiles, the .so
	@TEST_NGINX_BINARY=$(NGINX) prove scripts/t

test-valgrind: ## no definite leak after 100 reloads
	@scripts/install-deps.sh build valgrind
	@scripts/valgrind-reload.sh
