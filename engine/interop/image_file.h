// Image files as tensors.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "engine/core/error.h"

namespace dmlconform::interop {

/// Pixels with three or four components of 8 bits: red, green, blue, and opacity.
struct Image {
    std::uint32_t width = 0;
    std::uint32_t height = 0;
    std::uint32_t channels = 0;
    /// Rows from top to bottom, each pixel's components together.
    std::vector<std::uint8_t> components;
};

/// Reads a .png or .jpg file with 3 or 4 channels. A JPEG is opaque. Fails without the libraries that decode them. The
/// error does not contain the path.
[[nodiscard]] core::Result<Image> read_image(const std::filesystem::path& path, std::uint32_t channels);

/// The image as [channels, height, width], from 0 to 1. An element is the mean of the pixels around its position,
/// weighted by a triangle that is as wide as two pixels of the larger of both images.
[[nodiscard]] std::vector<float> resampled_planes(const Image& image, std::uint32_t width, std::uint32_t height);

}  // namespace dmlconform::interop
