# The queue pages: assembled from their parts, tested in a browser.

## BROWSER_TESTS="t/browser/x.test.js" files for "make test-browser" (default: all)

BROWSER_TESTS ?=

PAGES := $(patsubst conf/pages/src/%,conf/pages/%, \
           $(filter-out %/head.html,$(wildcard conf/pages/src/*.html)))

.PHONY: pages csp test-browser

pages: ## write conf/pages/*.html from conf/pages/src/ (installs terser)
	@scripts/install-deps.sh browser
	@NODE_PATH=build/browser/node_modules node scripts/pages.js

csp: ## print the Content-Security-Policy of the built-in pages
	@scripts/csp.sh $(PAGES)

# A build prints the policy when the pages have changed.
$(BUILD)/pages.csp: $(PAGES) scripts/csp.sh
	@mkdir -p $(@D)
	@scripts/csp.sh $(PAGES) > $@.new
	@mv $@.new $@
	@cat $@

$(NGINX) $(MODULE_SO): $(BUILD)/pages.csp

test-browser: $(NGINX) ## test with Chromium, curl, wget, h2load, Python and Node (installs them)
	@scripts/install-deps.sh browser
	@scripts/test-browser.sh $(BROWSER_TESTS)
