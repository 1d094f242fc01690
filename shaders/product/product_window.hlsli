// Windows of an input, as columns of a product.
//
// Forward, a filter element sees one input position from each output position. Backward, each input position was spread
// over a window of outputs, so each output searches for the input positions that contributed to it; with strides, most
// filter elements find none.

#if WINDOW

// Integer convolutions are always forward. Some drivers execute code behind a branch in any case, which would divide
// here.
#if NUMBERS == PRODUCT_REAL
#define IS_BACKWARD is_backward
#else
#define IS_BACKWARD 0
#endif

// For four columns: the start of each window along the named dimensions; and whether there is a window, which output
// padding does not have.
struct Origins {
    bool4 is_summed;
    uint4 image;
    uint4 d;
    uint4 h;
    uint4 w;
};

uint4 origin_along(uint4 coordinate, uint stride, uint padding) {
    uint4 result = coordinate * stride - padding;
    if (IS_BACKWARD) {
        result = coordinate + padding;
    }
    return result;
}

Origins origins_of(Coordinates coordinates) {
    Origins result;
    result.is_summed = coordinates.d < summed_size.y && coordinates.h < summed_size.z && coordinates.w < summed_size.w;
    result.image = coordinates.image;
    result.d = origin_along(coordinates.d, window_stride.y, start_padding.y);
    result.h = origin_along(coordinates.h, window_stride.z, start_padding.z);
    result.w = origin_along(coordinates.w, window_stride.w, start_padding.w);
    return result;
}

// For one dimension: the input position that a filter element sees, and whether it is inside the input.
struct Found {
    uint4 element;
    bool4 is_inside;
};

Found find_along(uint4 origin, uint tap, uint step, uint stride, uint size) {
    Found result;
    // Padding before 0 wraps to very large numbers.
    result.element = origin + tap * step;
    result.is_inside = result.element < size;
    if (IS_BACKWARD) {
        const uint4 distance = origin - tap * step;
        result.element = distance / stride;
        result.is_inside = origin >= tap * step && result.element * stride == distance && result.element < size;
    }
    return result;
}

// The offsets of the window's first element, without the channel. Other filter elements are at fixed distances from
// there.
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
