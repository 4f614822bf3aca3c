# nginx with the module built in, and the module to be loaded.

## NGINX_SRC=DIR nginx's source (any from 1.22 to 1.30) in place of the pinned one

NGINX := $(BUILD)/nginx
NGINX_PLAIN := $(BUILD)/nginx-plain
MODULE_SO := $(BUILD)/ngx_http_flash_throttle_module.so

export NGINX_SRC SANITIZE_FLAGS

# nginx takes a variable of this name for the sockets of a binary upgrade.
unexport NGINX

.PHONY: nginx module FORCE

nginx: $(NGINX) ## build only build/nginx, the module built in

module: $(MODULE_SO) ## build only build/ngx_http_flash_throttle_module.so

# nginx's own makefile knows what is to be done, so it is always asked.

$(NGINX): FORCE
	@scripts/build-nginx.sh static

# after the module: the two share a tree
$(NGINX_PLAIN): FORCE | $(MODULE_SO)
	@scripts/build-nginx.sh plain

$(MODULE_SO): FORCE
	@scripts/build-nginx.sh dynamic

FORCE:
