# The two commands: `make demo` and `make test`. Each installs what is missing (Debian packages), builds and runs.
#   make          build the program            make format    lay out the sources
#   make demo     build, simulate, draw        make install   into PREFIX (default /usr/local)
#   make docs     rerun the commands of the docs, compare their numbers       make uninstall  what make install wrote
#   make test-fast the tests that take less than 3 s each: under a minute once it is built
#   make test     all tests, optimised; all but a few long ones with sanitizers, too; 15 s of fuzzing each reader of files
#   make test-all the same with clang, valgrind and the long sweeps
#   make bench    speed, beside other programs that it installs for comparison
MAKEFLAGS += --no-print-directory
BUILD   := build/release
CHECK   := build/check
ASAN    := build/asan
CLANG   := build/clang
FUZZ    := build/fuzz
PREFIX  ?= /usr/local
JOBS    ?= $(shell nproc)

# Debian 12 packages, by what needs them.
PACKAGES := build-essential cmake pkg-config \
  libcjson-dev libhdf5-dev libcmocka-dev \
  libocct-data-exchange-dev libtbb-dev libsqlite3-dev libboost-dev \
  libglfw3-dev libepoxy-dev libcglm-dev libimgui-dev libegl-dev libgl-dev libstb-dev \
  libegl1 libgl1 libgl1-mesa-dri fonts-dejavu-core xvfb libxtst-dev
# Beside them, only for `make test`: fuzzing (libFuzzer).
FUZZING  := clang libclang-rt-dev
# Only for `make test-all`, `make format` and `make tidy`.
EXTRA    := clang-format clang-tidy valgrind
# Only for `make test-all`: studies on many machines (lash-mpi), and the browser that opens their reports (40 and 400 MB).
OPTIONAL := libopenmpi-dev openmpi-bin chromium
# Only for `make bench`: what Lash is compared with; never linked by it.
PEERS    := libsiconos-numerics-dev libsiconos-kernel-dev libsiconos-mechanics-dev libmujoco-dev

.PHONY: all deps deps-test deps-extra deps-peers bench demo docs test test-fast test-all format tidy install uninstall clean
all: deps
	@cmake -S . -B $(BUILD) -DCMAKE_BUILD_TYPE=Release -DLASH_TESTS=OFF >/dev/null
	@cmake --build $(BUILD) -j$(JOBS)

# Installs missing packages; does nothing, and needs no rights, when all are there.
deps:
	@sh .ci/install-packages $(PACKAGES)
deps-test:
	@sh .ci/install-packages $(PACKAGES) $(FUZZING)
deps-extra:
	@sh .ci/install-packages $(PACKAGES) $(FUZZING) $(EXTRA) $(OPTIONAL)

deps-peers:
	@sh .ci/install-packages $(PACKAGES) $(PEERS)

bench: deps-peers all
	@$(BUILD)/lash bench

demo: all
	@mkdir -p demo
	@echo "Simulating two turns of a slider-crank with play in its crank pin (about a second) ..."
	@$(BUILD)/lash run models/slider_crank/crank_pin_play.json -o demo/slider_crank.h5 --plot demo/slider_crank.svg
	@echo
	@echo "Drawing ..."
	@$(BUILD)/lash view demo/slider_crank.h5 --frame 0.0205 --png demo/slider_crank.png
	@echo "  demo/slider_crank.png   the mechanism at 20.5 ms, with the forces in its play"
	@echo "  demo/slider_crank.svg   motion and forces over two turns of the crank (any browser)"
	@echo "  demo/slider_crank.h5    the whole motion: $(BUILD)/lash view demo/slider_crank.h5 plays it in a window,"
	@echo "                          $(BUILD)/lash export --csv demo/slider_crank.h5 prints it"
	@echo "Next: docs/first_model.md, a mechanism of your own in ten minutes."

# Reruns the commands whose numbers stand in README and docs; fails where they differ by more than is said there.
docs: all
	@sh docs/check_numbers.sh $(BUILD)/lash

test-fast: deps
	@cmake -S . -B $(CHECK) -DCMAKE_BUILD_TYPE=Release -DLASH_WERROR=ON >/dev/null
	@cmake --build $(CHECK) -j$(JOBS)
	cd $(CHECK) && ctest --output-on-failure -j$(JOBS) -L fast

test: deps-test
	@cmake -S . -B $(CHECK) -DCMAKE_BUILD_TYPE=Release -DLASH_WERROR=ON >/dev/null
	@cmake --build $(CHECK) -j$(JOBS)
	@cmake -S . -B $(ASAN) -DCMAKE_BUILD_TYPE=Debug -DLASH_WERROR=ON -DLASH_SANITIZE=ON >/dev/null
	@cmake --build $(ASAN) -j$(JOBS)
	@cmake -S . -B $(FUZZ) -DCMAKE_BUILD_TYPE=Release -DLASH_FUZZ=ON -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ >/dev/null
	@cmake --build $(FUZZ) -j$(JOBS) --target fuzz
	cd $(CHECK) && ctest --output-on-failure -j$(JOBS)
	cd $(ASAN) && ctest --output-on-failure -j$(JOBS) -LE heavy
	cd $(FUZZ) && ctest --output-on-failure -j$(JOBS)

test-all: deps-extra test
	@cmake -S . -B $(CLANG) -DCMAKE_BUILD_TYPE=Release -DLASH_WERROR=ON -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ >/dev/null
	@cmake --build $(CLANG) -j$(JOBS)
	cd $(CLANG) && ctest --output-on-failure -j$(JOBS)
	cd $(ASAN) && ctest --output-on-failure -j$(JOBS) -L heavy
	cd $(CHECK) && LASH_LONG_TESTS=1 ctest --output-on-failure -j$(JOBS) --timeout 3000
	cd $(FUZZ) && LASH_LONG_TESTS=1 ctest --output-on-failure
	valgrind -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite \
	  $(CHECK)/lash run models/slider_crank/ideal.json --duration 1e-3 -o $(CHECK)/valgrind.h5 >/dev/null

format: deps-extra
	@git ls-files '*.c' '*.h' '*.cpp' '*.hpp' | xargs clang-format -i
tidy: deps-extra
	@cmake -S . -B $(CHECK) -DCMAKE_BUILD_TYPE=Release >/dev/null
	@git ls-files '*.c' | xargs clang-tidy -p $(CHECK) --quiet

# The library looks for its CAD helper below PREFIX, too, wherever programs that use it stand.
install: deps
	@cmake -S . -B $(BUILD) -DCMAKE_BUILD_TYPE=Release -DLASH_TESTS=OFF -DCMAKE_INSTALL_PREFIX=$(PREFIX) -DLASH_LIBEXECDIR=$(PREFIX)/libexec/lash >/dev/null
	@cmake --build $(BUILD) -j$(JOBS)
	@cmake --install $(BUILD) --prefix $(PREFIX) | grep -v '^-- ' || true
	@echo "Installed $$(wc -l <$(BUILD)/install_manifest.txt) files below $(PREFIX) ('make uninstall PREFIX=$(PREFIX)' removes them):"
	@echo "program bin/lash, page 'man lash', docs share/doc/lash, models share/lash/models."

uninstall:
	@sh .ci/uninstall $(BUILD)/install_manifest.txt $(PREFIX)

clean:
	rm -rf build demo
