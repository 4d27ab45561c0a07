# ringtree_layer(NAME DEPS <layers...> [SOURCES <files...>]): the static library rt_NAME of the folder core/NAME; without
# SOURCES all its .cpp files, for folders that grow by a file a thing.
# The folder may include headers of DEPS and of what they depend on, and of nothing else under core/.
# Where several sources are compiled as one (the presets: it halves the time of a build), a source whose
# private names another one of its folder has too is compiled by itself: ringtree_alone(FILES). `make check` reads
# each changed source by itself, which finds an include that is missing there.
find_package(Threads REQUIRED)

add_library(rt_options INTERFACE)
target_include_directories(rt_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(rt_options INTERFACE -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # Its warnings about "literal" + std::string are false (GCC bug 105651), and come back when it links with -flto.
  target_compile_options(rt_options INTERFACE -Wno-restrict -Wno-stringop-overflow)
  target_link_options(rt_options INTERFACE -Wno-restrict -Wno-stringop-overflow)
endif()
if(RINGTREE_WERROR)
  target_compile_options(rt_options INTERFACE -Werror)
endif()
if(RINGTREE_TESTS AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC spends 5 to 10 % of a test's sources on collecting its own garbage, unless it starts later: some 180 MB more.
  target_compile_options(rt_options INTERFACE "SHELL:--param ggc-min-heapsize=524288")
endif()
target_link_libraries(rt_options INTERFACE Threads::Threads)
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Where loops begin changed calls of 1 and 4 KB by 6 and 12 % (Zen 3), and every change elsewhere moved them.
  target_compile_options(rt_options INTERFACE -falign-functions=64 -falign-loops=32)
endif()
if(RINGTREE_SANITIZE)
  target_compile_options(rt_options INTERFACE -fsanitize=${RINGTREE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all
                         $<$<BOOL:$<TARGET_PROPERTY:RINGTREE_ANY_ENUM>>:-fno-sanitize=enum> # a target's own would come too early
                         $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds>) # GCC 12, where a temporary string is moved
  target_link_options(rt_options INTERFACE -fsanitize=${RINGTREE_SANITIZE})
endif()

function(ringtree_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

function(ringtree_layer name)
  cmake_parse_arguments(ARG "" "" "DEPS;SOURCES" ${ARGN})
  if(NOT ARG_SOURCES)
    file(GLOB ARG_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  endif()
  add_library(rt_${name} STATIC ${ARG_SOURCES})
  target_link_libraries(rt_${name} PUBLIC rt_options)
  foreach(dep ${ARG_DEPS})
    target_link_libraries(rt_${name} PUBLIC rt_${dep})
  endforeach()
endfunction()
