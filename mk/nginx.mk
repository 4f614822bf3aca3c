# nginx with the module built in, nginx without it, and the dynamic module.

## NGINX_SRC=DIR nginx source to use, 1.22 to 1.30, instead of the pinned release

NGINX := $(BUILD)/nginx
NGINX_PLAIN := $(BUILD)/nginx-plain
MODULE_SO := $(BUILD)/ngx_http_flash_throttle_module.so

export NGINX_SRC SANITIZE_FLAGS

# nginx reads inherited sockets from an environment variable NGINX.
unexport NGINX

.PHONY: nginx module FORCE

nginx: $(NGINX) ## build build/nginx, with the module built in

module: $(MODULE_SO) ## build build/ngx_http_flash_throttle_module.so, for load_module

# nginx's own makefile tracks the dependencies, so it always runs.

$(NGINX): FORCE
	@scripts/build-nginx.sh static

# after the module: the two share a tree
$(NGINX_PLAIN): FORCE | $(MODULE_SO)
	@scripts/build-nginx.sh plain

$(MODULE_SO): FORCE
	@scripts/build-nginx.sh dynamic

FORCE:
