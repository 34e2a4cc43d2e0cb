# The two commands: `make demo` and `make test`. Each installs what is missing (Debian packages), builds and runs.
BUILD   := build/release
CHECK   := build/check
ASAN    := build/asan
PREFIX  ?= /usr/local
JOBS    ?= $(shell nproc)

# Debian 12 packages, by what needs them.
PACKAGES := build-essential cmake pkg-config \
  libcjson-dev libhdf5-dev liblapacke-dev libopenblas-dev libcmocka-dev \
  libocct-data-exchange-dev

.PHONY: all deps demo test format install clean
all: deps
	@cmake -S . -B $(BUILD) -DCMAKE_BUILD_TYPE=Release -DLASH_TESTS=OFF >/dev/null
	@cmake --build $(BUILD) -j$(JOBS)

# Installs missing packages; does nothing, and needs no rights, when all are there.
deps:
	@missing=; for p in $(PACKAGES); do \
	  [ "$$(dpkg-query -W -f='$${db:Status-Status}' $$p 2>/dev/null)" = installed ] || missing="$$missing $$p"; done; \
	if [ -n "$$missing" ]; then \
	  root=; [ "$$(id -u)" = 0 ] || root=sudo; \
	  if [ -n "$$root" ] && ! command -v sudo >/dev/null; then \
	    echo "Missing Debian packages:$$missing"; echo "Install them as root (apt-get install$$missing), then repeat."; exit 1; fi; \
	  echo "Installing:$$missing"; \
	  $$root apt-get update -qq && DEBIAN_FRONTEND=noninteractive $$root apt-get install -y -qq --no-install-recommends $$missing >/dev/null; fi

demo: all
	@mkdir -p demo
	@$(BUILD)/lash run models/slider_crank/ideal.json -o demo/slider_crank.h5 --plot demo/slider_crank.svg
	@echo "Picture: demo/slider_crank.svg"

test: deps
	@cmake -S . -B $(CHECK) -DCMAKE_BUILD_TYPE=Release -DLASH_WERROR=ON >/dev/null
	@cmake --build $(CHECK) -j$(JOBS)
	@cmake -S . -B $(ASAN) -DCMAKE_BUILD_TYPE=Debug -DLASH_WERROR=ON -DLASH_SANITIZE=ON >/dev/null
	@cmake --build $(ASAN) -j$(JOBS)
	cd $(CHECK) && ctest --output-on-failure -j$(JOBS)
	cd $(ASAN) && ctest --output-on-failure -j$(JOBS)

format:
	@git ls-files '*.c' '*.h' '*.cpp' '*.hpp' | xargs clang-format -i

install: all
	@cmake --install $(BUILD) --prefix $(PREFIX)

clean:
	rm -rf build demo
