# The stores (inventory/): one interface, its backends in MySQL, Redis and
# shadow mode, and their benchmark.

## INVENTORY="storm pools" parts of "make inventory-mysql": storm throughput locks gaps deadlocks carts pools holders

INVENTORY ?=

STORE_DIR := $(BUILD)/stores
STORE_OBJS := $(patsubst inventory/%.c,$(STORE_DIR)/%.o,$(wildcard inventory/*.c))
STORE_PACKAGES := libevent_core jansson libmariadb hiredis

INVENTORY_BENCH := $(BUILD)/inventory
INVENTORY_OBJS := $(patsubst inventory/%.c,$(STORE_DIR)/%.o, \
                             $(wildcard inventory/bench/*.c))

# The contract that every store keeps, the checkout's SQLite store included.
STORE_CONTRACT := $(STORE_DIR)/contract
STORE_CONTRACT_OBJS := $(STORE_DIR)/t/store_contract.o \
    $(patsubst upstream-demo/%.c,$(BUILD)/upstream-demo/%.o, \
               $(wildcard upstream-demo/store_sqlite*.c))

# Expanded in recipes: pkg-config may not be installed before.
STORE_CFLAGS = -std=c11 -D_GNU_SOURCE -pthread -Iinventory \
               $(shell pkg-config --cflags $(STORE_PACKAGES))
STORE_LIBS = $(shell pkg-config --libs $(STORE_PACKAGES)) -lm

$(STORE_DIR)/%.o: inventory/%.c
	@mkdir -p $(@D)
	$(CC) $(STORE_CFLAGS) $(CFLAGS) $(CFLAGS_EXTRA) -MMD -MP -c -o $@ $<

$(STORE_DIR)/t/%.o: STORE_CFLAGS += -Iupstream-demo

$(INVENTORY_BENCH): $(INVENTORY_OBJS) $(STORE_OBJS)
	$(CC) $(CFLAGS) $(CFLAGS_EXTRA) -pthread $(LDFLAGS) $(LDFLAGS_EXTRA) \
	    -o $@ $^ $(STORE_LIBS)

$(STORE_CONTRACT): $(STORE_CONTRACT_OBJS) $(STORE_OBJS)
	$(CC) $(CFLAGS) $(CFLAGS_EXTRA) -pthread $(LDFLAGS) $(LDFLAGS_EXTRA) \
	    -o $@ $^ $(STORE_LIBS) $(shell pkg-config --libs sqlite3)

-include $(STORE_OBJS:.o=.d) $(INVENTORY_OBJS:.o=.d) \
         $(STORE_DIR)/t/store_contract.d

.PHONY: inventory inventory-mysql

inventory: inventory-mysql

inventory-mysql: ## part of "make inventory": the store in MySQL or MariaDB
	@scripts/install-deps.sh build test
	@$(MAKE) --no-print-directory $(INVENTORY_BENCH)
	@BENCH=$(INVENTORY_BENCH) scripts/inventory.sh $(INVENTORY)
