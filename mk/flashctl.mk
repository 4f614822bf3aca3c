# flashctl: an operator's view of a sale, and orders for it.

FLASHCTL := $(BUILD)/flashctl
FLASHCTL_OBJS := $(patsubst tools/%.c,$(BUILD)/tools/%.o,$(wildcard tools/ctl*.c))
FLASHCTL_PACKAGES := libcurl jansson

# Expanded when the recipe needs them: pkg-config may not be there before.
FLASHCTL_LIBS = $(shell pkg-config --libs $(FLASHCTL_PACKAGES))

$(FLASHCTL): $(FLASHCTL_OBJS)
	$(CC) $(CFLAGS) $(CFLAGS_EXTRA) $(LDFLAGS) $(LDFLAGS_EXTRA) \
	    -o $@ $(FLASHCTL_OBJS) $(FLASHCTL_LIBS)

-include $(FLASHCTL_OBJS:.o=.d)
