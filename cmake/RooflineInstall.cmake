# Where `cmake --install` puts things, and the packages that `cpack` makes of it. Man pages and completions are written by
# the program itself, from what its command line is parsed by, so a cross-compiled one comes without.
include(GNUInstallDirs)

install(TARGETS roofline)
install(TARGETS roofline_count_qemu LIBRARY DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/roofline)  # the same licence
if(TARGET roofline_count)  # a program of its own, under its own licence
  install(TARGETS roofline_count RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/roofline)
  install(FILES src/emulate/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME roofline_count.md)
endif()
install(DIRECTORY configs/ DESTINATION ${CMAKE_INSTALL_DATADIR}/roofline/configs)
install(FILES README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/schema DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)

if(NOT CMAKE_CROSSCOMPILING)
  install(CODE "
    set(roofline \"$<TARGET_FILE:roofline>\")
    set(man \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}\")
    set(data \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}\")")
  install(SCRIPT ${PROJECT_SOURCE_DIR}/cmake/install_manual.cmake)
endif()

set(CPACK_GENERATOR DEB TGZ)
find_program(RPMBUILD rpmbuild)
mark_as_advanced(RPMBUILD)
if(RPMBUILD)
  list(APPEND CPACK_GENERATOR RPM)
endif()
set(CPACK_PACKAGE_NAME roofline)
set(CPACK_PACKAGE_VENDOR roofline)
set(ROOFLINE_PACKAGE_CONTACT "unknown (nobody was named with ROOFLINE_PACKAGE_CONTACT)"
  CACHE STRING "Who answers for the packages: NAME <ADDRESS>")
set(CPACK_PACKAGE_CONTACT "${ROOFLINE_PACKAGE_CONTACT}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "measures a machine's roofs, and how close each kernel comes")
set(CPACK_PACKAGE_DESCRIPTION "Roofline measures what a machine can really do (compute pipes, caches, memory, links; NVIDIA GPUs and CPUs)\nand shows for each kernel of a suite, or of any program, how close it comes and what holds it back.\nWithout a GPU, a driver or CUDA it works on the CPU.")
set(CPACK_PACKAGE_FILE_NAME roofline-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_STRIP_FILES OFF)  # the machine code of its kernels is read from its own file
set(CPACK_ARCHIVE_COMPONENT_INSTALL OFF)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
# All that is not linked statically is glibc; the rest is opened at run time where it is needed, and there.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= ${ROOFLINE_GLIBC_FLOOR})")
if(NOT ROOFLINE_PORTABLE)
  set(CPACK_DEBIAN_PACKAGE_DEPENDS "")
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
endif()
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "gcc, g++, libzstd1, nvidia-driver, valgrind")
set(CPACK_PRE_BUILD_SCRIPTS "${CMAKE_CURRENT_LIST_DIR}/RooflinePackageTimes.cmake")
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_DESCRIPTION "${CPACK_PACKAGE_DESCRIPTION}")
set(CPACK_RPM_PACKAGE_LICENSE "MIT AND GPL-2.0-or-later AND OFL-1.1")
set(CPACK_RPM_PACKAGE_GROUP Development/Tools)
set(CPACK_RPM_PACKAGE_AUTOREQ OFF)
if(ROOFLINE_PORTABLE)
  set(CPACK_RPM_PACKAGE_REQUIRES "glibc >= ${ROOFLINE_GLIBC_FLOOR}")
else()
  set(CPACK_RPM_PACKAGE_AUTOREQ ON)
endif()
set(CPACK_RPM_PACKAGE_SUGGESTS "gcc, gcc-c++, libzstd, valgrind")
# Nothing of the machine and the moment, with SOURCE_DATE_EPOCH; and no stripping, as above.
set(CPACK_RPM_SPEC_MORE_DEFINE "%define _buildhost reproducible
%define use_source_date_epoch_as_buildtime 1
%define clamp_mtime_to_source_date_epoch 1
%define _build_id_links none
%define __os_install_post %{nil}")
# Folders of the system, which other packages have, too.
foreach(folder man man/man1 man/man7 bash-completion bash-completion/completions zsh zsh/vendor-completions fish
    fish/vendor_completions.d doc)
  list(APPEND CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION ${CMAKE_INSTALL_FULL_DATADIR}/${folder} /usr/share/${folder})
endforeach()
list(APPEND CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION /usr/libexec)
include(CPack)
