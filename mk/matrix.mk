# The module with the nginx of several Debian releases, and the project in a
# bare Debian.

.PHONY: matrix fresh-machine

matrix: ## compile the module for Debian's nginx 1.22, 1.26 and 1.30, run t/ on each
	@scripts/install-deps.sh build test matrix
	@scripts/matrix.sh

fresh-machine: ## run the README's two commands in a bare Debian 12 (root, debootstrap)
	@scripts/chroot-proof.sh
