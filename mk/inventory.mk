# The store in MySQL or MariaDB put to the test, on a server of its own.

## INVENTORY="storm pools" parts of "make inventory-mysql": storm throughput locks gaps deadlocks carts pools holders

INVENTORY ?=

INVENTORY_BENCH := $(BUILD)/inventory
INVENTORY_OBJS := $(patsubst upstream-demo/bench/%.c,$(BUILD)/upstream-demo/bench/%.o, \
                             $(wildcard upstream-demo/bench/inventory*.c))

# $(STORE_OBJS) and $(CHECKOUT_DIR) are not known yet where prerequisites are
# read
$(INVENTORY_BENCH): $(INVENTORY_OBJS) $(BUILD)/checkout
	$(CC) $(CFLAGS) $(CFLAGS_EXTRA) -pthread $(LDFLAGS) $(LDFLAGS_EXTRA) \
	    -o $@ $(INVENTORY_OBJS) $(STORE_OBJS) $(CHECKOUT_LIBS)

-include $(INVENTORY_OBJS:.o=.d)

.PHONY: inventory inventory-mysql

inventory: inventory-mysql

inventory-mysql: ## of "make inventory": the store in MySQL or MariaDB
	@scripts/install-deps.sh build test
	@$(MAKE) --no-print-directory $(INVENTORY_BENCH)
	@BENCH=$(INVENTORY_BENCH) scripts/inventory.sh $(INVENTORY)
