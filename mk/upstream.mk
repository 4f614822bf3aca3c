# The checkout upstream (upstream-demo/) on the stores of inventory/, and the
# tests of both.

CHECKOUT := $(BUILD)/checkout
CHECKOUT_DIR := $(BUILD)/upstream-demo
CHECKOUT_OBJS := $(patsubst upstream-demo/%.c,$(CHECKOUT_DIR)/%.o, \
                            $(wildcard upstream-demo/*.c))
CHECKOUT_PACKAGES := libevent_core libevent_extra sqlite3 jansson

CHECKOUT_MEASURES := $(CHECKOUT_DIR)/measures
CHECKOUT_MEASURES_OBJS := $(CHECKOUT_DIR)/t/measures.o \
                          $(CHECKOUT_DIR)/window.o $(STORE_DIR)/histogram.o

# Expanded in recipes: pkg-config may not be installed before.
CHECKOUT_CFLAGS = -std=c11 -D_GNU_SOURCE -pthread -Iinventory \
                  $(shell pkg-config --cflags $(CHECKOUT_PACKAGES))
CHECKOUT_LIBS = $(shell pkg-config --libs $(CHECKOUT_PACKAGES)) $(STORE_LIBS)

$(CHECKOUT): $(CHECKOUT_OBJS) $(STORE_OBJS)
	$(CC) $(CFLAGS) $(CFLAGS_EXTRA) -pthread $(LDFLAGS) $(LDFLAGS_EXTRA) \
	    -o $@ $^ $(CHECKOUT_LIBS)

$(CHECKOUT_MEASURES): $(CHECKOUT_MEASURES_OBJS)
	$(CC) $(CFLAGS) $(CFLAGS_EXTRA) $(LDFLAGS) $(LDFLAGS_EXTRA) \
	    -o $@ $^ -lm

$(CHECKOUT_DIR)/%.o: upstream-demo/%.c
	@mkdir -p $(@D)
	$(CC) $(CHECKOUT_CFLAGS) $(CFLAGS) $(CFLAGS_EXTRA) -MMD -MP -c -o $@ $<

-include $(CHECKOUT_OBJS:.o=.d) $(CHECKOUT_DIR)/t/measures.d

# A crowd of 1,200 needs as many descriptors in the test as in the checkout.
# The suites mostly wait for payments, so they run in parallel.
CHECKOUT_TESTED = $(CHECKOUT) $(CHECKOUT_MEASURES) $(STORE_CONTRACT) \
                  $(INVENTORY_BENCH)

.PHONY: test-upstream
test-upstream: $(CHECKOUT_TESTED) ## test the checkout upstream and the stores
	@ulimit -n 8192 && CHECKOUT=$(CHECKOUT) \
	    CHECKOUT_MEASURES=$(CHECKOUT_MEASURES) \
	    CHECKOUT_CONTRACT=$(STORE_CONTRACT) \
	    INVENTORY_BENCH=$(INVENTORY_BENCH) \
	    prove -j4 -Iupstream-demo/t/lib -Iinventory/t/lib \
	    upstream-demo/t inventory/t
