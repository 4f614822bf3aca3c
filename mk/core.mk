# The core library.

CORE_NAMES := ft_accept ft_adapt ft_admission ft_bucket ft_census \
              ft_census_rank ft_control ft_cookie ft_dict ft_feedback \
              ft_foresee ft_format ft_history ft_hold ft_json ft_line ft_lru \
              ft_mark ft_measure ft_news ft_opening ft_orders ft_pass \
              ft_rfc3339 ft_room ft_sessions ft_snapshot ft_standing ft_state \
              ft_ticket ft_waits ft_zone
CORE_OBJS  := $(CORE_NAMES:%=$(BUILD)/core/%.o)

CORE_CFLAGS := -std=gnu11 -fPIC -Isrc

$(BUILD)/core/%.o: src/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(CFLAGS_EXTRA) $(CORE_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/libft.a: $(CORE_OBJS)
	@rm -f $@
	$(AR) rcs $@ $^

-include $(CORE_OBJS:.o=.d)
