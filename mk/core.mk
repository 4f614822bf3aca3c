# The core library (src/wire and src/core), which knows no nginx.

CORE_SRCS := $(wildcard src/wire/*.c src/core/*.c)
CORE_OBJS := $(CORE_SRCS:src/%.c=$(BUILD)/src/%.o)

CORE_INCS   := -Isrc/wire -Isrc/core
CORE_CFLAGS := -std=gnu11 -fPIC $(CORE_INCS)

$(BUILD)/src/%.o: src/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(CFLAGS_EXTRA) $(CORE_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/libft.a: $(CORE_OBJS)
	@rm -f $@
	$(AR) rcs $@ $^

-include $(CORE_OBJS:.o=.d)
