# Benchmarks: comparison with other servers, instruction counts, other programs.

## QUICK=1 for "make bench": takes a few minutes and records nothing

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

bench: ## compare the cost with other servers, write docs/performance.md (20 minutes)
	@scripts/install-deps.sh build bench
	@$(MAKE) --no-print-directory all $(BENCH_PROGRAMS)
	@QUICK='$(QUICK)' bench/run.sh

bench-record: $(NGINX) $(BENCH_PROGRAMS) ## record the instruction counts for test-bench (valgrind)
	@BENCH_NGINX=$(NGINX) bench/instructions.pl --record

test-bench: $(NGINX) $(BENCH_PROGRAMS) ## test the benchmark, compare instruction counts with the recorded ones
	@BENCH_NGINX=$(NGINX) prove -Ibench/lib bench/t
