# What it costs: beside its peers, in instructions, and the programs around it.

## QUICK=1 for "make bench": a few minutes, and nothing recorded

BENCH := $(BUILD)/bench
BENCH_PROGRAMS := $(BENCH)/load $(BENCH)/tickets $(BENCH)/decisions

BENCH_CFLAGS = -std=gnu11 $(CORE_INCS) -It/unit

$(BENCH)/%.o: bench/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(CFLAGS_EXTRA) $(BENCH_CFLAGS) -MMD -MP -c -o $@ $<

$(BENCH)/load: $(BENCH)/load.o
	$(CC) $(LDFLAGS) $(LDFLAGS_EXTRA) -o $@ $^

$(BENCH)/tickets $(BENCH)/decisions: $(BENCH)/%: $(BENCH)/%.o $(BUILD)/libft.a
	$(CC) $(LDFLAGS) $(LDFLAGS_EXTRA) -o $@ $^ -lcrypto

.SECONDARY: $(BENCH_PROGRAMS:%=%.o)

-include $(BENCH_PROGRAMS:%=%.d)

.PHONY: bench bench-record test-bench

bench: ## what it costs beside its peers: docs/performance.md (20 minutes)
	@scripts/install-deps.sh build bench
	@$(MAKE) --no-print-directory all $(BENCH_PROGRAMS)
	@QUICK='$(QUICK)' bench/run.sh

bench-record: $(NGINX) $(BENCH_PROGRAMS) ## record the instructions that test-bench compares with (valgrind)
	@BENCH_NGINX=$(NGINX) bench/instructions.pl --record

test-bench: $(NGINX) $(BENCH_PROGRAMS) ## the benchmark's own tests, and instructions beside those recorded
	@BENCH_NGINX=$(NGINX) prove -Ibench/lib bench/t
