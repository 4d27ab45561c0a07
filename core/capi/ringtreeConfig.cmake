# find_package(ringtree) gives the target ringtree::ringtree.
include(${CMAKE_CURRENT_LIST_DIR}/ringtreeTargets.cmake)
