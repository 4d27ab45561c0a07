// Prints docs/algorithms.md: steps, hops, bytes, lanes and scratch of every algorithm. What it prints is made in
// algorithms_table.h; that the committed page is up to date is checked by tests/core/algorithms/test_table.cpp.
#include "tools/algorithms_table.h"

int main() { return std::fputs(ringtree::algorithms_page().c_str(), stdout) < 0 ? 1 : 0; }
