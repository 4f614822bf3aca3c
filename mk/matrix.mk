# The module against the nginx of several Debian releases, and the whole
# project on a machine that has nothing yet.

.PHONY: matrix fresh-machine

matrix: ## compile against Debian's nginx 1.22, 1.26, 1.30 and run t/ on each
	@scripts/install-deps.sh build test matrix
	@scripts/matrix.sh

fresh-machine: ## the README's two commands in a bare Debian 12 (root, debootstrap)
	@scripts/chroot-proof.sh
