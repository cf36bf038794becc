# Made by symmem 0.1.0. Do not edit: build it again.
#
#   find_package(symmem-adamw REQUIRED)
#   target_link_libraries(program PRIVATE symmem::adamw)          # or symmem::adamw-static

get_filename_component(_symmem_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

if(NOT TARGET symmem::adamw)
  add_library(symmem::adamw SHARED IMPORTED)
  set_target_properties(symmem::adamw PROPERTIES
    IMPORTED_LOCATION "${_symmem_prefix}/lib/libsymmem_adamw.so"
    INTERFACE_INCLUDE_DIRECTORIES "${_symmem_prefix}/include")

  add_library(symmem::adamw-static STATIC IMPORTED)
  set_target_properties(symmem::adamw-static PROPERTIES
    IMPORTED_LOCATION "${_symmem_prefix}/lib/libsymmem_adamw.a"
    IMPORTED_LINK_INTERFACE_LANGUAGES "C"
    INTERFACE_INCLUDE_DIRECTORIES "${_symmem_prefix}/include"
    INTERFACE_LINK_LIBRARIES "m;-fopenmp")
endif()

unset(_symmem_prefix)
