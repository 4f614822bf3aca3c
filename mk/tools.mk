# flash-crowd, the tests of the tools, the demo and the end-to-end tests.

CROWD := $(BUILD)/flash-crowd
CROWD_SRCS := $(wildcard tools/crowd*.c) tools/fairness.c tools/option.c
CROWD_OBJS := $(CROWD_SRCS:tools/%.c=$(BUILD)/tools/%.o)
CROWD_PACKAGES := libcurl libevent_core jansson

# Recursive: pkg-config may be installed after make has read this file.
CROWD_CFLAGS = -std=gnu11 -Itools -Isim \
               $(shell pkg-config --cflags $(CROWD_PACKAGES))
CROWD_LIBS = $(shell pkg-config --libs $(CROWD_PACKAGES)) -lm

$(CROWD): $(CROWD_OBJS)
	$(CC) $(CFLAGS) $(CFLAGS_EXTRA) $(LDFLAGS) $(LDFLAGS_EXTRA) \
	    -o $@ $(CROWD_OBJS) $(CROWD_LIBS)

$(BUILD)/tools/%.o: tools/%.c
	@mkdir -p $(@D)
	$(CC) $(CROWD_CFLAGS) $(CFLAGS) $(CFLAGS_EXTRA) -MMD -MP -c -o $@ $<

-include $(CROWD_OBJS:.o=.d)

.PHONY: test-tools

test-tools: $(CROWD) $(BUILD)/flash-verify $(BUILD)/flashctl ## test flash-crowd, flash-verify and flashctl
	CROWD=$(CROWD) VERIFY=$(BUILD)/flash-verify FLASHCTL=$(BUILD)/flashctl \
	    prove -j4 tools/t

.PHONY: demo

## DEMO_EXIT=1 end "make demo" after its table, for CI

demo: ## run a demo sale with a crowd, then keep it open for a browser (installs, builds)
	@scripts/install-deps.sh build
	@$(MAKE) --no-print-directory $(NGINX) $(CHECKOUT) $(CROWD)
	@scripts/demo.sh

.PHONY: test-e2e

# The sales mostly wait for payments, so three wait together, the longest first.
E2E_FIRST := $(wildcard t/e2e/stores.t t/e2e/bound.t t/e2e/fair.t)

# $(CHECKOUT) is not defined yet where prerequisites are expanded
test-e2e: $(NGINX) $(BUILD)/checkout $(CROWD) $(BUILD)/flash-verify $(BUILD)/flash-report $(BUILD)/flashctl ## test whole sales: order, limits, killed workers, restarts
	BUILD=$(BUILD) TEST_NGINX_BINARY=$(NGINX) CHECKOUT=$(CHECKOUT) CROWD=$(CROWD) \
	    VERIFY=$(BUILD)/flash-verify \
	    prove -j3 $(E2E_FIRST) $(filter-out $(E2E_FIRST),$(wildcard t/e2e/*.t))

.PHONY: adapt

adapt: $(NGINX) $(BUILD)/checkout $(CROWD) ## measure adapt while payments slow down, into docs/img/adapt.svg (two minutes, gnuplot)
	@scripts/adapt.sh
