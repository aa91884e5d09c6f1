# Thin covers over scripts/ and the CMake presets. Each sets up what it needs and does nothing twice.
MODEL ?= models/segue-tiny.gguf
PREFIX ?= /usr/local

.PHONY: chat test bench format lint install clean
chat:
	@scripts/build.sh release segue
	@build/release/apps/cli/segue chat "$(MODEL)"
test:
	@scripts/test.sh
bench:
	@scripts/build.sh release segue_bench
	@build/release/bench/segue_bench $(BENCH_ARGS)
format:
	@scripts/format.sh
lint:
	@scripts/lint.sh
install:
	@scripts/build.sh release
	@cmake --install build/release --prefix "$(PREFIX)" >/dev/null && echo "==> Installed in $(PREFIX)"
clean:
	@rm -rf build
