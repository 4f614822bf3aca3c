# The rehearsal: one sale that uses all features, with all counts compared.

.PHONY: rehearsal

rehearsal: ## run a sale with pre-queue, slow payments and sold out; compare all counts (a minute)
	@scripts/install-deps.sh build
	@$(MAKE) --no-print-directory $(NGINX) $(BUILD)/checkout $(CROWD) \
	    $(BUILD)/flash-report $(BUILD)/flash-verify
	@BUILD=$(BUILD) scripts/rehearsal.sh
