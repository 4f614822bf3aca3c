# Flash sales under load: one sale, the recorded series, and the report on it.

## PROFILE=peak for "make sale": drop, low, peak or burst
## VARIANT=NAME for "make sale": one variant, see scripts/sale.sh
## POLICY=fair for "make sale" through nginx: fair or lottery, both by default
## SEED=1 of a sale's payments and draws
## STORE=mysql where a sale keeps stock and orders: mysql, redis, shadow (servers of its own), or any --store
## ORDERS="8:truth=second 14:kill=1" for a sale's stores, with STORE=shadow: SECOND:ORDER ...
## LOAD=auto who sends the shoppers: k6 (v2), crowd (build/flash-crowd), or what is there

LOAD ?= auto
export PROFILE VARIANT POLICY SEED STORE ORDERS LOAD

SALE_PROGRAMS = $(NGINX) $(BUILD)/checkout $(BUILD)/flash-report \
                 $(BUILD)/flash-crowd

.PHONY: sale experiments rehearse abort report

sale: ## a flash sale through nginx, with the lottery and with the fair line
	@scripts/install-deps.sh build $(if $(filter mysql redis shadow,$(STORE)),test)
	@$(MAKE) --no-print-directory $(SALE_PROGRAMS)
	@scripts/sale-make.sh

rehearse: ## more and more shoppers until something breaks (k6)
	@$(MAKE) --no-print-directory sale PROFILE=rehearse POLICY=fair

experiments: ## the recorded series of sales, into results/ (45 minutes)
	@scripts/install-deps.sh build
	@$(MAKE) --no-print-directory $(SALE_PROGRAMS)
	@scripts/experiments.sh $(RUNS)

abort: ## stop every sale that runs, and let none start until build/abort is gone
	@mkdir -p build
	@touch build/abort
	@echo "every sale stops; remove build/abort to run sales again"

report: $(BUILD)/flash-sim ## docs/experiments.md, from results/ and the simulator
	@scripts/install-deps.sh report
	@scripts/report.pl
