// What a fuzz target is: seeds, and a function that eats bytes and may do anything with them but crash, leak, hang or
// believe them. The driver (fuzz_main.cpp) makes the bytes; with clang's libFuzzer its own driver does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Well-formed inputs: mutations of them get further than noise does.
std::vector<std::string> fuzz_seeds();

/// Eats one input. A wrong answer (something forged was believed) ends the program by fuzz_fail().
void fuzz_one(std::string_view input);

[[noreturn]] void fuzz_fail(const char* what);
