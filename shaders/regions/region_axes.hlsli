// The positions of a region's samples along an axis.

struct Axis {
    float start;
    float step;
    uint samples;  // samples of an output
    uint outputs;
    uint size;     // size of the input
};

float region_coordinate(uint region, uint coordinate) {
    return REAL(regions, region * region_strides.x + coordinate * region_strides.y);
}

uint sample_count(float length, uint outputs) {
    const float wanted = ceil(divide_exactly(float4(length, 0, 0, 0), float(outputs)).x);
    return wanted >= float(most_samples) ? most_samples : max(uint(max(wanted, 0)), least_samples);
}

// Axis 0 is x.
Axis axis_of(uint region, uint axis) {
    precise const float begin = region_coordinate(region, axis) * (axis == 0 ? scale_x : scale_y);
    precise const float end = region_coordinate(region, axis + 2) * (axis == 0 ? scale_x : scale_y);
    precise const float length = end - begin;
    Axis result;
    result.outputs = axis == 0 ? pooled_width : pooled_height;
    result.size = axis == 0 ? width : height;
    result.samples = sample_count(abs(length), result.outputs);
    const float count = float(result.outputs) * float(result.samples);
    const bool is_middle = aligns_corners != 0 && count == 1;
    const float steps = aligns_corners != 0 ? count - 1 : count;
    result.step = is_middle ? 0 : divide_exactly(float4(length, 0, 0, 0), steps).x;
    precise const float middle = (begin + end) * 0.5;
    precise const float start = (is_middle ? middle : begin) - input_offset;
    result.start = start;
    return result;
}

float position_of(Axis axis, uint number) {
    precise const float moved = (float(number) - output_offset) * axis.step;
    precise const float position = axis.step == 0 ? axis.start : moved + axis.start;
    return position;
}

bool is_inside(Axis axis, float position) {
    const float size = float(axis.size);
    const bool outside = aligns_corners != 0 ? position < 0 || position > size - 1 : position <= -1 || position >= size;
    return is_nan(position) || !outside;
}

// The neighbours of a sample inside the input, and its distance from the first one.
struct Neighbours {
    uint first;
    uint second;
    float distance;
};

Neighbours neighbours_of(Axis axis, float position) {
    const float last = float(axis.size - 1);
    const float within = is_nan(position) ? 0 : clamp(position, 0, last);
    Neighbours result;
    if (interpolates != 0) {
        result.first = uint(floor(within));
        result.second = min(result.first + 1, axis.size - 1);
        result.distance = is_nan(position) ? position : within - floor(within);
    } else {
        result.first = min(uint(floor(within + 0.5)), axis.size - 1);
        result.second = result.first;
        result.distance = 0;
    }
    return result;
}
