# The simulator, the figures of fairness, and the report on an access log.

SIM_NAMES := $(basename $(notdir $(wildcard sim/*.c)))
SIM_OBJS  := $(SIM_NAMES:%=$(BUILD)/sim/%.o) $(BUILD)/sim/fairness.o

SIM_CFLAGS = -std=gnu11 $(CORE_INCS) -Itools -Isim

$(BUILD)/sim/%.o: sim/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(CFLAGS_EXTRA) $(SIM_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/sim/%.o: tools/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(CFLAGS_EXTRA) $(SIM_CFLAGS) -MMD -MP -c -o $@ $<

# All of the core, so that a function of the simulator by the name of one of the
# core's is refused instead of taking its place.
SIM_CORE := -Wl,--whole-archive $(BUILD)/libft.a -Wl,--no-whole-archive -lcrypto

$(BUILD)/flash-sim: $(SIM_OBJS) $(BUILD)/libft.a
	$(CC) $(LDFLAGS) $(LDFLAGS_EXTRA) -o $@ $(SIM_OBJS) $(SIM_CORE) -lm

REPORT_OBJS := $(BUILD)/sim/report.o $(BUILD)/sim/access_log.o \
               $(BUILD)/sim/report_plot.o $(BUILD)/sim/report_shoppers.o \
               $(BUILD)/sim/fairness.o

$(BUILD)/flash-report: $(REPORT_OBJS)
	$(CC) $(LDFLAGS) $(LDFLAGS_EXTRA) -o $@ $^ -lm

SIM_TEST_OBJS := $(patsubst sim/t/%.c,$(BUILD)/sim/t/%.o,$(wildcard sim/t/*.c))

$(BUILD)/sim/t/%.o: sim/t/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(CFLAGS_EXTRA) $(SIM_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/sim/unit: $(SIM_TEST_OBJS) $(filter-out %/main.o,$(SIM_OBJS)) \
                   $(BUILD)/sim/access_log.o $(BUILD)/libft.a
	$(CC) $(LDFLAGS) $(LDFLAGS_EXTRA) -o $@ $^ -lm

.PHONY: predict fairness sweep test-sim

sweep: $(BUILD)/flash-sim ## draw where the engine breaks, into docs/engine/ (gnuplot; minutes)
	@MAKE='$(MAKE)' FLASH_SIM=$(BUILD)/flash-sim \
	    sim/sweep.sh $(BUILD)/sweep docs/engine

test-sim: $(BUILD)/sim/unit $(BUILD)/flash-sim $(BUILD)/flash-report ## tests of the simulator and the report, and short forms of predict and fairness
	@FLASH_SIM=$(BUILD)/flash-sim FLASH_REPORT=$(BUILD)/flash-report \
	    sim/t/run.sh $(BUILD)/sim/unit sim/t/flash_sim.sh \
	    sim/t/flash_report.sh sim/t/figures.sh

predict: $(BUILD)/flash-sim ## the playbook's predictions, simulated (seconds)
	@FLASH_SIM=$(BUILD)/flash-sim sim/predict.sh

fairness: $(BUILD)/flash-sim ## what the edge must reach, simulated (under a minute)
	@FLASH_SIM=$(BUILD)/flash-sim sim/fairness.sh

-include $(SIM_OBJS:.o=.d) $(REPORT_OBJS:.o=.d) $(SIM_TEST_OBJS:.o=.d)
