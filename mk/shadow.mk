# Tests of shadow mode, and sales on every store.

.PHONY: inventory inventory-shadow

inventory: inventory-shadow ## test and measure the stores (minutes)

inventory-shadow: ## part of "make inventory": shadow mode, and sales on every store
	@scripts/install-deps.sh build test
	@$(MAKE) --no-print-directory $(SALE_PROGRAMS)
	@scripts/inventory-shadow.pl
