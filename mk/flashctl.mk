# flashctl: shows and controls the zones of an nginx with flash_throttle.

FLASHCTL := $(BUILD)/flashctl
FLASHCTL_OBJS := $(patsubst tools/%.c,$(BUILD)/tools/%.o,$(wildcard tools/ctl*.c)) \
                 $(BUILD)/tools/option.o
FLASHCTL_PACKAGES := libcurl jansson

# Recursive: pkg-config may be installed after make has read this file.
FLASHCTL_LIBS = $(shell pkg-config --libs $(FLASHCTL_PACKAGES))

$(FLASHCTL): $(FLASHCTL_OBJS)
	$(CC) $(CFLAGS) $(CFLAGS_EXTRA) $(LDFLAGS) $(LDFLAGS_EXTRA) \
	    -o $@ $(FLASHCTL_OBJS) $(FLASHCTL_LIBS)

-include $(FLASHCTL_OBJS:.o=.d)
