# The stores in Redis and in pairs put to the test, and sales on each store.

.PHONY: inventory inventory-shadow

inventory: inventory-shadow ## the stores put to the test, with figures (minutes)

inventory-shadow: ## of "make inventory": shadow mode, and sales on every store
	@scripts/install-deps.sh build test
	@$(MAKE) --no-print-directory $(SALE_PROGRAMS)
	@scripts/inventory-shadow.pl
