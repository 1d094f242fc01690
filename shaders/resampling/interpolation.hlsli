// Linear interpolation between two elements in FP32. Needs float32.hlsli.

// Returns the first element if both are equal or if the distance is 0, even if the second one is infinite.
float between(float first, float other, float distance) {
    const float difference = other - first;
    float result = first;
    if (distance != 0) {
        result = is_infinite(difference) ? first * (1 - distance) + other * distance : first + difference * distance;
    }
    return result;
}
