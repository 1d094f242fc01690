// Decodes images with libpng and libjpeg-turbo, and scales them.
#include "engine/interop/image_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <string_view>

#include "engine/core/text_file.h"
#if DMLCONFORM_HAS_IMAGES
#include <png.h>
#include <turbojpeg.h>
#endif

namespace dmlconform::interop {
namespace {

/// Limits, because small files may hold large images.
[[maybe_unused]] constexpr std::uint64_t most_pixels = std::uint64_t{1} << 26;
[[maybe_unused]] constexpr std::uintmax_t largest_image_file = std::uintmax_t{64} << 20;

#if DMLCONFORM_HAS_IMAGES

core::Result<void> check_pixels(std::string_view format, std::uint64_t width, std::uint64_t height) {
    if (width == 0 || height == 0 || width > most_pixels || height > most_pixels / width) {
        return core::fail(fmt::format("the {} image has {} times {} pixels", format, width, height));
    }
    return {};
}

core::Result<Image> decode_png(const std::string& bytes, std::uint32_t channels) {
    png_image png{};
    png.version = PNG_IMAGE_VERSION;
    const std::unique_ptr<png_image, void (*)(png_image*)> end(&png, [](png_image* image) { png_image_free(image); });
    if (png_image_begin_read_from_memory(&png, bytes.data(), bytes.size()) == 0) {
        return core::fail(fmt::format("it is not a PNG image: {}", png.message));
    }
    if (const auto fits = check_pixels("PNG", png.width, png.height); !fits) {
        return tl::unexpected(fits.error());
    }
    png.format = channels == 4 ? PNG_FORMAT_RGBA : PNG_FORMAT_RGB;
    Image image{png.width, png.height, channels, std::vector<std::uint8_t>(PNG_IMAGE_SIZE(png))};
    if (png_image_finish_read(&png, nullptr, image.components.data(), 0, nullptr) == 0) {
        return core::fail(fmt::format("the PNG image cannot be decoded: {}", png.message));
    }
    return image;
}

core::Result<Image> decode_jpeg(const std::string& bytes, std::uint32_t channels) {
    const std::unique_ptr<void, int (*)(tjhandle)> decoder(tjInitDecompress(), tjDestroy);
    const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
    const auto size = static_cast<unsigned long>(bytes.size());
    int width = 0;
    int height = 0;
    int sampling = 0;
    int colours = 0;
    if (decoder == nullptr ||
        tjDecompressHeader3(decoder.get(), data, size, &width, &height, &sampling, &colours) != 0) {
        return core::fail(fmt::format("it is not a JPEG image: {}", tjGetErrorStr2(decoder.get())));
    }
    if (const auto fits = check_pixels("JPEG", static_cast<std::uint64_t>(width), static_cast<std::uint64_t>(height));
        !fits) {
        return tl::unexpected(fits.error());
    }
    Image image{static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(height), channels, {}};
    image.components.resize(std::size_t{image.width} * image.height * channels);
    // The limit is for small files with very many scans of a large image.
    const int decoded = tjDecompress2(decoder.get(), data, size, image.components.data(), width, 0, height,
                                      channels == 4 ? TJPF_RGBA : TJPF_RGB, TJFLAG_ACCURATEDCT | TJFLAG_LIMITSCANS);
    if (decoded != 0) {
        return core::fail(fmt::format("the JPEG image cannot be decoded: {}", tjGetErrorStr2(decoder.get())));
    }
    return image;
}

#endif

/// What a position of the scaled image takes from one axis of the image.
struct Weights {
    std::uint32_t first = 0;
    /// Their sum is 1.
    std::vector<double> weights;
};

std::vector<Weights> weights_of(std::uint32_t from, std::uint32_t to) {
    const double scale = static_cast<double>(from) / to;
    const double width = std::max(scale, 1.0);
    std::vector<Weights> result;
    for (std::uint32_t i = 0; i < to; ++i) {
        const double centre = (i + 0.5) * scale - 0.5;
        const double low = std::max(0.0, std::ceil(centre - width));
        const double high = std::min(from - 1.0, std::floor(centre + width));
        Weights weights{static_cast<std::uint32_t>(low), {}};
        double sum = 0;
        for (double position = low; position <= high; ++position) {
            weights.weights.push_back(std::max(0.0, 1 - std::abs(position - centre) / width));
            sum += weights.weights.back();
        }
        for (double& weight : weights.weights) {
            weight /= sum;
        }
        result.push_back(std::move(weights));
    }
    return result;
}

}  // namespace

core::Result<Image> read_image(const std::filesystem::path& path, std::uint32_t channels) {
#if DMLCONFORM_HAS_IMAGES
    if (channels != 3 && channels != 4) {
        return core::fail(fmt::format("images have 3 or 4 channels, not {}", channels));
    }
    const auto bytes = core::read_text_file(path, largest_image_file);
    if (!bytes) {
        return tl::unexpected(bytes.error());
    }
    return bytes->starts_with("\x89PNG") ? decode_png(*bytes, channels) : decode_jpeg(*bytes, channels);
#else
    (void)path;
    (void)channels;
    return core::fail("this program was built without libpng and libjpeg-turbo, with which images are read");
#endif
}

std::vector<float> resampled_planes(const Image& image, std::uint32_t width, std::uint32_t height) {
    const std::vector<Weights> columns = weights_of(image.width, width);
    const std::vector<Weights> rows = weights_of(image.height, height);
    std::vector<float> planes(std::size_t{image.channels} * width * height);
    std::vector<double> across(std::size_t{image.height} * width);
    for (std::uint32_t channel = 0; channel < image.channels; ++channel) {
        for (std::size_t y = 0; y < image.height; ++y) {
            for (std::size_t x = 0; x < width; ++x) {
                double sum = 0;
                for (std::size_t k = 0; k < columns[x].weights.size(); ++k) {
                    const std::size_t pixel = y * image.width + columns[x].first + k;
                    sum += columns[x].weights[k] * image.components[pixel * image.channels + channel];
                }
                across[y * width + x] = sum;
            }
        }
        float* plane = planes.data() + std::size_t{channel} * width * height;
        for (std::size_t y = 0; y < height; ++y) {
            for (std::size_t x = 0; x < width; ++x) {
                double sum = 0;
                for (std::size_t k = 0; k < rows[y].weights.size(); ++k) {
                    sum += rows[y].weights[k] * across[(rows[y].first + k) * width + x];
                }
                plane[y * width + x] = static_cast<float>(sum / 255);
            }
        }
    }
    return planes;
}

}  // namespace dmlconform::interop
