# The pages of the waiting room: written from their parts, tested in a browser.

## BROWSER_TESTS="t/browser/x.test.js" which files "make test-browser" runs

BROWSER_TESTS ?=

PAGES := $(patsubst conf/pages/src/%,conf/pages/%, \
           $(filter-out %/head.html,$(wildcard conf/pages/src/*.html)))

.PHONY: pages csp test-browser

pages: ## write conf/pages/*.html anew from conf/pages/src/ (installs terser)
	@scripts/install-deps.sh browser
	@NODE_PATH=build/browser/node_modules node scripts/pages.js

csp: ## the Content-Security-Policy that the built-in pages need
	@scripts/csp.sh $(PAGES)

# A build says which policy its pages need, whenever they have changed.
$(BUILD)/pages.csp: $(PAGES) scripts/csp.sh
	@mkdir -p $(@D)
	@scripts/csp.sh $(PAGES) > $@.new
	@mv $@.new $@
	@cat $@

$(NGINX) $(MODULE_SO): $(BUILD)/pages.csp

test-browser: $(NGINX) ## real clients: Chromium, curl, wget, h2load, Python, Node (installs them)
	@scripts/install-deps.sh browser
	@scripts/test-browser.sh $(BROWSER_TESTS)
