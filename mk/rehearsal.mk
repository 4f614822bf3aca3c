# A sale rehearsed: everything at once, and who counted what.

.PHONY: rehearsal

rehearsal: ## a whole sale: pre-queue, slow payments, sold out; all counts compared (a minute)
	@scripts/install-deps.sh build
	@$(MAKE) --no-print-directory $(NGINX) $(BUILD)/checkout $(CROWD) \
	    $(BUILD)/flash-report $(BUILD)/flash-verify
	@BUILD=$(BUILD) scripts/rehearsal.sh
