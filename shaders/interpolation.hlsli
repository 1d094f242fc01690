// What lies between two elements, in FP32. Needs float32.hlsli.

// Between equal elements there is nothing else, and at the first one an infinite other has no part.
float between(float first, float other, float distance) {
    const float difference = other - first;
    float result = first;
    if (distance != 0) {
        result = is_infinite(difference) ? first * (1 - distance) + other * distance : first + difference * distance;
    }
    return result;
}
