# flash_throttle: a fair waiting room for nginx.  "make help" lists the targets.
#
# Every part of the project has its own fragment in mk/.  A "## ..." comment on
# a target's line describes it; one that starts with "NAME=value" describes a
# variable.

.DEFAULT_GOAL := all

include mk/common.mk
include $(filter-out mk/common.mk,$(sort $(wildcard mk/*.mk)))

PRODUCTS := $(NGINX) $(MODULE_SO) $(CHECKOUT) $(BUILD)/libft.a \
            $(BUILD)/flash-sim $(BUILD)/flash-crowd $(BUILD)/flash-report \
            $(BUILD)/flash-verify $(BUILD)/flashctl

.PHONY: all clean help

all: $(PRODUCTS) ## build everything: nginx, the .so, the checkout, core library, tools

clean: ## remove everything that was built or fetched (build/)
	rm -rf --one-file-system build

help: ## show this list
	@echo "usage: make [target] [VARIABLE=value ...]"
	@echo
	@sed -n 's/^\([a-z][a-z0-9-]*\):[^=#]*## *\(.*\)/\1\t\2/p' $(MAKEFILE_LIST) \
	    | sort | awk -F '\t' '{ printf "  %-16s %s\n", $$1, $$2 }'
	@echo
	@echo "variables:"
	@sed -n 's/^## *\([A-Z][A-Z0-9_]*=[^ ]*\)  *\(.*\)/\1\t\2/p' $(MAKEFILE_LIST) \
	    | awk -F '\t' '{ printf "  %-16s %s\n", $$1, $$2 }'
