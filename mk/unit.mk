# Unit tests of the core: a program for each file of it.

UNIT_TESTS := $(notdir $(basename $(wildcard t/unit/test_*.c)))
UNIT_PROGS := $(UNIT_TESTS:%=$(BUILD)/unit/%)

# what they share
UNIT_OBJS := $(BUILD)/unit/crowd.o $(BUILD)/unit/stress.o

UNIT_CFLAGS := $(CORE_CFLAGS) -It/unit

.PHONY: test-unit test-race

test-unit: $(UNIT_PROGS) ## unit tests of the core
	@t/unit/run.sh $(UNIT_PROGS)

# gcc warns that the detector does not see fences; ft_zone_find() has one

RACE_CFLAGS := -O1 -g -Wall -Wextra -Werror \
               $(if $(findstring clang,$(CC)),,-Wno-tsan)

test-race: ## the core's workers as threads, under ThreadSanitizer
	@$(MAKE) --no-print-directory BUILD=build/race \
	    SANITIZE_FLAGS=-fsanitize=thread CFLAGS='$(RACE_CFLAGS)' \
	    build/race/unit/test_threads
	@TSAN_OPTIONS=halt_on_error=1 t/unit/run.sh build/race/unit/test_threads

$(BUILD)/unit/%.o: t/unit/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(CFLAGS_EXTRA) $(UNIT_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/unit/test_%: $(BUILD)/unit/test_%.o $(UNIT_OBJS) $(BUILD)/libft.a
	$(CC) $(LDFLAGS_EXTRA) -o $@ $^ -lcmocka -lcrypto -lpthread

.SECONDARY: $(UNIT_PROGS:%=%.o) $(UNIT_OBJS)

-include $(UNIT_PROGS:%=%.d) $(UNIT_OBJS:.o=.d)
