// Windows of an input, as columns of a product.
//
// Forwards, a tap of the window at an output's place looks at one place of the input. Backwards an input's place was
// spread over a
// window of outputs, so that each output looks for the places that it had its share from: most taps find none where
// windows were some way apart.

#if WINDOW

// Convolutions of integers go forwards. Some drivers do what is behind a branch in any case, and divide there.
#if NUMBERS == PRODUCT_REAL
#define IS_BACKWARD is_backward
#else
#define IS_BACKWARD 0
#endif

// Of four columns: where each window begins, along the dimensions that have names; and whether there is one, as padding
// of the output has
// none.
struct Origins {
    bool4 is_summed;
    uint4 image;
    uint4 d;
    uint4 h;
    uint4 w;
};

uint4 origin_along(uint4 place, uint stride, uint padding) {
    uint4 result = place * stride - padding;
    if (IS_BACKWARD) {
        result = place + padding;
    }
    return result;
}

Origins origins_of(Places places) {
    Origins result;
    result.is_summed = places.d < summed_size.y && places.h < summed_size.z && places.w < summed_size.w;
    result.image = places.image;
    result.d = origin_along(places.d, window_stride.y, start_padding.y);
    result.h = origin_along(places.h, window_stride.z, start_padding.z);
    result.w = origin_along(places.w, window_stride.w, start_padding.w);
    return result;
}

// Along one dimension: where a tap finds the input, and whether it does.
struct Found {
    uint4 place;
    bool4 is_inside;
};

Found find_along(uint4 origin, uint tap, uint step, uint stride, uint size) {
    Found result;
    // Padding is left of 0, which wraps around to very large numbers.
    result.place = origin + tap * step;
    result.is_inside = result.place < size;
    if (IS_BACKWARD) {
        const uint4 distance = origin - tap * step;
        result.place = distance / stride;
        result.is_inside = origin >= tap * step && result.place * stride == distance && result.place < size;
    }
    return result;
}

// Where the window's first tap is, but for channels: other taps are at a distance from there that all windows share.
uint4 starts_of(Origins origins) {
    uint4 d = origins.d;
    uint4 h = origins.h;
    uint4 w = origins.w;
    if (IS_BACKWARD) {
        d /= window_stride.y;
        h /= window_stride.z;
        w /= window_stride.w;
    }
    return origins.image * input_strides.x + d * input_strides.y + h * input_strides.z + w * input_strides.w;
}

#endif
