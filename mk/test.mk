# The suites, one command for all of them, and the checks that take longer.

## TESTS="t/x.t" which of t/*.t "make test-nginx" runs, and options of prove

TESTS ?=

# In this order: the smallest thing that can be wrong is named first.
SUITES := test-unit test-race test-sim test-build test-nginx test-upstream \
          test-tools test-e2e test-browser test-bench

.PHONY: deps test check test-nginx test-build test-valgrind

deps: ## install what building and testing need (apt on Debian; root or sudo)
	@scripts/install-deps.sh build test

test: ## build what is missing, install what the tests need, run every suite
	@scripts/install-deps.sh build test browser
	@$(MAKE) --no-print-directory check

check: all ## run every suite on what is built, installing nothing
	@INSTALL_DEPS=no MAKE='$(MAKE)' scripts/run-suites.sh $(SUITES)

test-nginx: $(NGINX) ## t/*.t with Test::Nginx on build/nginx
	@scripts/prove.sh $(TESTS)

test-build: $(NGINX) $(NGINX_PLAIN) $(MODULE_SO) ## the build itself: scripts, makefiles, the .so
	@TEST_NGINX_BINARY=$(NGINX) prove scripts/t

test-valgrind: ## no definite leak after 100 reloads
	@scripts/install-deps.sh build valgrind
	@scripts/valgrind-reload.sh
