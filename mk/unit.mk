# Unit tests of the core, one program per source file, and fuzzers of the parsers.
# The unit tests replay the fuzzers' corpora.

UNIT_TESTS := $(notdir $(basename $(wildcard t/unit/test_*.c)))
UNIT_PROGS := $(UNIT_TESTS:%=$(BUILD)/unit/%)

FUZZ_TARGETS := $(patsubst t/fuzz/fuzz_%.c,%,$(wildcard t/fuzz/fuzz_*.c))
UNIT_REPLAYS := $(FUZZ_TARGETS:%=$(BUILD)/unit/replay_%)

# linked into all unit tests
UNIT_OBJS := $(BUILD)/unit/crowd.o $(BUILD)/unit/stress.o

UNIT_CFLAGS := $(CORE_CFLAGS) -It/unit

## ARCH="i386 arm64" architectures of "make test-arch" (default: i386 arm64 s390x)

ARCH ?=

.PHONY: test-unit test-race test-arch fuzz-short

test-unit: $(UNIT_PROGS) $(UNIT_REPLAYS) ## unit tests of the core
	@t/unit/run.sh $(UNIT_PROGS) $(UNIT_REPLAYS)

# -Wno-tsan: gcc warns about the fence in ft_zone_find().

RACE_TESTS := test_threads test_race
RACE_CFLAGS := -O1 -g -Wall -Wextra -Werror \
               $(if $(findstring clang,$(CC)),,-Wno-tsan)

.PHONY: race-programs

race-programs:
	@$(MAKE) --no-print-directory BUILD=build/race \
	    SANITIZE_FLAGS=-fsanitize=thread CFLAGS='$(RACE_CFLAGS)' \
	    $(RACE_TESTS:%=build/race/unit/%)

test-race: race-programs ## the core's workers as threads, under ThreadSanitizer
	@TSAN_OPTIONS=halt_on_error=1 t/unit/run.sh \
	    $(RACE_TESTS:%=build/race/unit/%)

test-arch: ## run the unit tests for other architectures, in an emulator
	@scripts/install-deps.sh matrix
	@MAKE='$(MAKE)' scripts/unit-arch.sh $(ARCH)

$(BUILD)/unit/%.o: t/unit/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(CFLAGS_EXTRA) $(UNIT_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/unit/test_%: $(BUILD)/unit/test_%.o $(UNIT_OBJS) $(BUILD)/libft.a
	$(CC) $(LDFLAGS_EXTRA) -o $@ $^ -lcmocka -lcrypto -lpthread

$(BUILD)/unit/replay_%: t/fuzz/replay.c t/fuzz/fuzz_%.c $(BUILD)/libft.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(CFLAGS_EXTRA) $(UNIT_CFLAGS) \
	    -DCORPUS='"t/fuzz/corpus/$*"' -o $@ $^ -lcmocka -lcrypto

# libFuzzer needs clang.  The core is compiled with it, for branch coverage.

FUZZ_SECONDS ?= 30
FUZZ_FLAGS := -O1 -g -Wall -Wextra -Werror \
              -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all
FUZZ_CORE := src/wire/ft_ticket.c src/wire/ft_cookie.c src/wire/ft_accept.c src/wire/ft_dict.c \
             src/wire/ft_feedback.c src/wire/ft_json.c src/wire/ft_keyring.c

build/fuzz/%: t/fuzz/fuzz_%.c t/fuzz/fuzz.h $(FUZZ_CORE)
	@mkdir -p $(@D)
	clang $(FUZZ_FLAGS) $(CORE_CFLAGS) -o $@ $< $(FUZZ_CORE) -lcrypto

.PHONY: fuzz-clang

fuzz-clang:
	@echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' \
	    | clang -fsanitize=fuzzer,address -x c -o /dev/null - 2> /dev/null \
	    || { echo "fuzz-short needs clang with libFuzzer;" \
	              "on Debian: apt-get install clang libclang-rt-dev"; exit 1; }

fuzz-short: fuzz-clang ## fuzz each parser of client input for half a minute
	@$(MAKE) --no-print-directory $(FUZZ_TARGETS:%=build/fuzz/%)
	@for target in $(FUZZ_TARGETS); do \
	    mkdir -p build/fuzz/corpus/$$target && \
	    build/fuzz/$$target -max_total_time=$(FUZZ_SECONDS) -max_len=2048 \
	        -print_final_stats=1 -verbosity=0 -artifact_prefix=build/fuzz/$$target- \
	        build/fuzz/corpus/$$target t/fuzz/corpus/$$target || exit 1; \
	done

.SECONDARY: $(UNIT_PROGS:%=%.o) $(UNIT_OBJS)

-include $(UNIT_PROGS:%=%.d) $(UNIT_OBJS:.o=.d)
