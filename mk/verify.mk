# flash-verify: checks that a pre-queue was admitted in its shuffled order.

VERIFY_OBJS := $(patsubst tools/%.c,$(BUILD)/verify/%.o,\
               $(wildcard tools/verify*.c) tools/access_log.c tools/fairness.c \
               tools/option.c)

$(BUILD)/verify/%.o: tools/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(CFLAGS_EXTRA) -std=gnu11 $(CORE_INCS) -Itools -MMD -MP -c -o $@ $<

$(BUILD)/flash-verify: $(VERIFY_OBJS) $(BUILD)/libft.a
	$(CC) $(LDFLAGS) $(LDFLAGS_EXTRA) -o $@ $^ -lcrypto -lm

-include $(VERIFY_OBJS:.o=.d)
