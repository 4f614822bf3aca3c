# flash-verify: whether a pre-queue was let in in the order that was drawn.

VERIFY_OBJS := $(BUILD)/verify/verify.o $(BUILD)/verify/verify_log.o \
               $(BUILD)/verify/verify_order.o $(BUILD)/verify/fairness.o

$(BUILD)/verify/%.o: tools/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(CFLAGS_EXTRA) -std=gnu11 $(CORE_INCS) -Itools -MMD -MP -c -o $@ $<

$(BUILD)/flash-verify: $(VERIFY_OBJS) $(BUILD)/libft.a
	$(CC) $(LDFLAGS) $(LDFLAGS_EXTRA) -o $@ $^ -lcrypto -lm

-include $(VERIFY_OBJS:.o=.d)
