// The optimizer's step over all parameters at once: master weights in single precision, and their copy for the
// convolutions. Gradients of filters are stored numbers, those of biases and norms single precision.

INLINE Eight load_slope(const Number* from) { return load_eight(from); }
#ifdef BF16
INLINE Eight load_slope(const float* from) { return load_single(from); }
#endif

template <class Slope>
INLINE void sgd_step(float* weights, float* momenta, const Slope* slopes, Number* copy, u32 count, float rate,
                     float momentum, float decay) {
    EACH(i, count) {
        u64 at = (u64)i * 8;
        Eight weight = load_single(weights + at), kept = load_single(momenta + at), slope = load_slope(slopes + at);
        for (int k = 0; k < 8; k++) {
            kept.at[k] = momentum * kept.at[k] + (slope.at[k] + decay * weight.at[k]);
            weight.at[k] -= rate * kept.at[k];
        }
        store_single(momenta + at, kept);
        store_single(weights + at, weight);
        if (copy) store(copy + at, weight);
    }
}

struct AdamTerms {
    float size, root, new_mean, keep_square, new_square, epsilon, decay;
};

template <class Slope>
INLINE void adam_step(float* weights, float* means, float* squares, const Slope* slopes, Number* copy, u32 count,
                      AdamTerms t) {
    EACH(i, count) {
        u64 at = (u64)i * 8;
        Eight weight = load_single(weights + at), slope = load_slope(slopes + at);
        Eight mean = load_single(means + at), square = load_single(squares + at);
        for (int k = 0; k < 8; k++) {
            float s = slope.at[k] + t.decay * weight.at[k];
            mean.at[k] += t.new_mean * (s - mean.at[k]);
            square.at[k] = t.keep_square * square.at[k] + t.new_square * s * s;
            // Padding has no gradient, and must not become 0 / 0 where epsilon is zero.
            if (mean.at[k] != 0.f) weight.at[k] -= t.size * mean.at[k] / (sqrtf(square.at[k]) * t.root + t.epsilon);
        }
        store_single(means + at, mean);
        store_single(squares + at, square);
        store_single(weights + at, weight);
        if (copy) store(copy + at, weight);
    }
}

KERNEL sgd_filters(float* weights, float* momenta, const Number* slopes, Number* copy, u32 count, float rate,
                   float momentum, float decay) {
    sgd_step(weights, momenta, slopes, copy, count, rate, momentum, decay);
}

KERNEL sgd_vectors(float* weights, float* momenta, const float* slopes, u32 count, float rate, float momentum,
                   float decay) {
    sgd_step(weights, momenta, slopes, (Number*)0, count, rate, momentum, decay);
}

KERNEL adam_filters(float* weights, float* means, float* squares, const Number* slopes, Number* copy, u32 count,
                    AdamTerms terms) {
    adam_step(weights, means, squares, slopes, copy, count, terms);
}

KERNEL adam_vectors(float* weights, float* means, float* squares, const float* slopes, u32 count, AdamTerms terms) {
    adam_step(weights, means, squares, slopes, (Number*)0, count, terms);
}
