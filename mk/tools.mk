# The crowd of shoppers, the demo, and the end-to-end tests that use them.

CROWD := $(BUILD)/flash-crowd
CROWD_SRCS := $(wildcard tools/crowd*.c) tools/fairness.c
CROWD_OBJS := $(CROWD_SRCS:tools/%.c=$(BUILD)/tools/%.o)
CROWD_PACKAGES := libcurl libevent_core jansson

# Expanded when a recipe needs them: pkg-config may not be there before.
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

test-tools: $(CROWD) $(BUILD)/flash-verify ## test the crowd client and flash-verify
	CROWD=$(CROWD) VERIFY=$(BUILD)/flash-verify prove -j4 tools/t

.PHONY: demo

## DEMO_EXIT=1 "make demo" ends after its table, for CI

demo: ## a sale to watch, then to take part in (installs, builds, runs)
	@scripts/install-deps.sh build
	@$(MAKE) --no-print-directory $(NGINX) $(CHECKOUT) $(CROWD)
	@scripts/demo.sh

.PHONY: test-e2e

# The sales mostly wait for payments, so three wait together, the longest first.
E2E_FIRST := $(wildcard t/e2e/stores.t t/e2e/bound.t t/e2e/fair.t)

# $(CHECKOUT) is not known yet where prerequisites are read
test-e2e: $(NGINX) $(BUILD)/checkout $(CROWD) $(BUILD)/flash-verify $(BUILD)/flash-report $(BUILD)/flashctl ## a sale from end to end: order, bound, kills, restart
	BUILD=$(BUILD) TEST_NGINX_BINARY=$(NGINX) CHECKOUT=$(CHECKOUT) CROWD=$(CROWD) \
	    VERIFY=$(BUILD)/flash-verify \
	    prove -j3 $(E2E_FIRST) $(filter-out $(E2E_FIRST),$(wildcard t/e2e/*.t))

.PHONY: adapt

adapt: $(NGINX) $(BUILD)/checkout $(CROWD) ## a payment provider that slows down, measured into docs/img/adapt.svg (two minutes, gnuplot)
	@scripts/adapt.sh
