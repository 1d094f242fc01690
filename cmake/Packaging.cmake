# What is installed, and the packages that cpack makes of it: scripts/package runs it.
#
# On Linux there are a .deb and a .tar.gz with the usual folders. For Windows there is a zip in which the program lies
# at the top, with the cases beside it.

if(WIN32)
  set(install_bin ".")
  set(install_data ".")
  set(install_doc "doc")
else()
  set(install_bin "${CMAKE_INSTALL_BINDIR}")
  set(install_data "${CMAKE_INSTALL_DATADIR}/dmlconform")
  set(install_doc "${CMAKE_INSTALL_DOCDIR}")
endif()

install(TARGETS dmlconform RUNTIME DESTINATION "${install_bin}")
# Cases name their schema by its place beside them.
install(DIRECTORY cases schemas DESTINATION "${install_data}")
# With the licence of vkd3d, which is linked statically, in docs/licenses.
install(FILES README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md LICENSE THIRD-PARTY-NOTICES.md
        DESTINATION "${install_doc}")
install(DIRECTORY docs DESTINATION "${install_doc}")

# The program writes its own manual page and completions. One that is built for another system cannot be run here.
if(NOT WIN32 AND NOT CMAKE_CROSSCOMPILING)
  set(install_generated "${PROJECT_BINARY_DIR}/installed")
  install(CODE "
    file(MAKE_DIRECTORY \"${install_generated}\")
    foreach(kind manual bash fish zsh)
      set(words completion \${kind})
      if(kind STREQUAL \"manual\")
        set(words manual)
      endif()
      execute_process(COMMAND \"$<TARGET_FILE:dmlconform>\" \${words} OUTPUT_FILE \"${install_generated}/\${kind}\"
                      COMMAND_ERROR_IS_FATAL ANY)
    endforeach()")
  install(FILES "${install_generated}/manual" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" RENAME dmlconform.1)
  install(FILES "${install_generated}/bash" DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions"
          RENAME dmlconform)
  install(FILES "${install_generated}/fish" DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d"
          RENAME dmlconform.fish)
  # Debian's zsh looks here for what packages bring; others look in site-functions.
  install(FILES "${install_generated}/zsh" DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions"
          RENAME _dmlconform)
  install(FILES "${install_generated}/zsh" DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions"
          RENAME _dmlconform)
  # Debian wants the licence under this name.
  install(FILES LICENSE DESTINATION "${install_doc}" RENAME copyright)
endif()

set(CPACK_PACKAGE_NAME dmlconform)
set(CPACK_PACKAGE_VENDOR "The dmlconform authors")
set(CPACK_PACKAGE_CONTACT "The dmlconform authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_DESCRIPTION
    "dmlconform runs cases of DirectML operators on engines and compares every element of every output within a\n\
tolerance that is derived. It times them, too, and finds what became slower.")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_STRIP_FILES ON)
if(WIN32)
  set(CPACK_GENERATOR ZIP)
else()
  set(CPACK_GENERATOR DEB TGZ)
endif()
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
# The libraries that the program is linked with, in the versions of the Debian that it was built on.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Without a Vulkan driver, everything but the engine d3d12 works.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS mesa-vulkan-drivers)
include(CPack)
