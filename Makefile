# flash_throttle: a fair waiting room for nginx.  "make help" lists the targets.
#
# Each part of the project has a fragment in mk/.  "make help" prints comments
# that start with "##": on a target's line, or "## NAME=value" for a variable.

.DEFAULT_GOAL := all

include mk/common.mk
include $(filter-out mk/common.mk,$(sort $(wildcard mk/*.mk)))

PRODUCTS := $(NGINX) $(MODULE_SO) $(CHECKOUT) $(BUILD)/libft.a \
            $(BUILD)/flash-sim $(BUILD)/flash-crowd $(BUILD)/flash-report \
            $(BUILD)/flash-verify $(BUILD)/flashctl

.PHONY: all clean help

all: $(PRODUCTS) ## build nginx, the .so, the checkout, the core library and the tools

clean: ## remove build/, which holds all built and fetched files
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
