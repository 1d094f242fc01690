// Includes xtensor from either of its header layouts: version 0.26 moved the headers into folders.
#pragma once

#if __has_include(<xtensor/containers/xtensor.hpp>)
#include <xtensor/containers/xarray.hpp>
#include <xtensor/containers/xtensor.hpp>
#include <xtensor/views/xview.hpp>
#else
#include <xtensor/xarray.hpp>
#include <xtensor/xtensor.hpp>
#include <xtensor/xview.hpp>
#endif
