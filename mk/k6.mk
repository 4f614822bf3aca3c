# Flash sales under load: a single sale, the recorded series and the report.

## PROFILE=peak profile of "make sale": drop, low, peak or burst
## VARIANT=NAME variant of "make sale"; scripts/sale.sh lists them
## POLICY=fair policy of "make sale": fair or lottery (default: both)
## SEED=1 seed of a sale's payments and random choices
## STORE=mysql store of a sale: mysql, redis or shadow (starts private servers), or any --store value
## ORDERS="8:truth=second 14:kill=1" commands for a sale's stores, with STORE=shadow: SECOND:COMMAND ...
## LOAD=auto load generator: k6 (v2), crowd (build/flash-crowd) or auto (k6 if installed)

LOAD ?= auto
export PROFILE VARIANT POLICY SEED STORE ORDERS LOAD

SALE_PROGRAMS = $(NGINX) $(BUILD)/checkout $(BUILD)/flash-report \
                 $(BUILD)/flash-crowd

.PHONY: sale experiments rehearse abort report

sale: ## run a flash sale through nginx, with policy=lottery and policy=fair
	@scripts/install-deps.sh build $(if $(filter mysql redis shadow,$(STORE)),test)
	@$(MAKE) --no-print-directory $(SALE_PROGRAMS)
	@scripts/sale-make.sh

rehearse: ## increase the number of shoppers until a limit is exceeded (k6)
	@$(MAKE) --no-print-directory sale PROFILE=rehearse POLICY=fair

experiments: ## run the recorded series of sales, into results/ (45 minutes)
	@scripts/install-deps.sh build
	@$(MAKE) --no-print-directory $(SALE_PROGRAMS)
	@scripts/experiments.sh $(RUNS)

abort: ## stop all running sales; none starts until build/abort is removed
	@mkdir -p build
	@touch build/abort
	@echo "all sales stop; remove build/abort to run sales again"

report: $(BUILD)/flash-sim ## write docs/experiments.md from results/ and the simulator
	@scripts/install-deps.sh report
	@scripts/report.pl
