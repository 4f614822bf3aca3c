# Variables that all fragments use.
#
#   BUILD          output directory
#   CFLAGS         for the project's own programs; CFLAGS_EXTRA and
#                  LDFLAGS_EXTRA are added to each compilation and link

## SANITIZE=1 build with ASan and UBSan, in build/sanitize

SANITIZE ?= 0

ifeq ($(SANITIZE),1)
BUILD := build/sanitize
SANITIZE_FLAGS := -fsanitize=address,undefined -fno-sanitize-recover=undefined \
                  -fno-omit-frame-pointer
CFLAGS := -O1 -g -Wall -Wextra -Werror
else
BUILD := build
SANITIZE_FLAGS :=
CFLAGS ?= -O2 -g -Wall -Wextra -Werror
endif

CFLAGS_EXTRA := $(SANITIZE_FLAGS)
LDFLAGS_EXTRA := $(SANITIZE_FLAGS)

ifeq ($(origin CC),default)
CC := gcc
endif

export BUILD CC SANITIZE
