// Batch norm with the residual sum and the ReLU after it, forward and backward.
//
// `terms` has, for each channel: mean, inverse deviation, what a number is multiplied by, what is added, and the three
// numbers of the backward pass, each as long as there are channels.

#define DEPTH 4

// What a worker has of a batch: examples of others before its own, its own, and those of the whole batch.
#define OWN 1
#define WHOLE 2

// The terms of a channel and its running statistics, from its sums over so many rows.
INLINE void observed(u32 c, const double* sums, double rows, const float* scale, const float* shift, float* running_mean,
                     float* running_variance, float* tracked, float* terms, u32 channels) {
    if (c == 0) tracked[0] += 1.f;
    double apart = sums[0] / rows, mean = running_mean[c] + apart;
    double variance = fmax(sums[1] / rows - apart * apart, 0.);
    double inverse = 1. / sqrt(variance + 1e-5);
    float times = scale[c] * (float)inverse;
    terms[c] = (float)mean;
    terms[channels + c] = (float)inverse;
    terms[2 * channels + c] = times;
    terms[3 * channels + c] = shift[c] - (float)mean * times;
    running_mean[c] = (float)(0.9 * running_mean[c] + 0.1 * mean);
    running_variance[c] = (float)(0.9 * running_variance[c] + 0.1 * (variance * rows / (rows > 1. ? rows - 1. : 1.)));
}

// Statistics of a batch, relative to the running mean so that a large mean does not drown a small variance.
SUMMING_KERNEL normalize_observe(const Number* x, float* partials, u32* arrived, const float* scale, const float* shift,
                         float* running_mean, float* running_variance, float* tracked, float* terms, double* whole,
                         const u32* part, u32 rows, u32 channels, u32 lanes) {
    Walk w = walk(channels, lanes);
    Eight first = zeros(), second = zeros();
    if (w.inside) {
        Eight about = load_single(running_mean + w.channel);
        for (u32 row = w.row; row < rows; row += DEPTH * w.step) {
            Packed packed[DEPTH];
            #pragma unroll
            for (int d = 0; d < DEPTH; d++)
                if (row + d * w.step < rows) packed[d] = load(x + from_the_end(row + d * w.step, rows, channels, w.channel));
            #pragma unroll
            for (int d = 0; d < DEPTH; d++) {
                if (row + d * w.step >= rows) break;
                Eight number = unpack(packed[d]);
                for (int i = 0; i < 8; i++) {
                    float apart = number.at[i] - about.at[i];
                    first.at[i] += apart;
                    second.at[i] += apart * apart;
                }
            }
        }
    }
    double sums[2];
    if (!add_up(first, second, lanes, partials, arrived, sums)) return;
    u32 c = blockIdx.x * lanes * 8 + threadIdx.x;
    if (c >= channels) return;
    if (!whole) return observed(c, sums, rows, scale, shift, running_mean, running_variance, tracked, terms, channels);
    // An example that only goes through the motions belongs to another worker, who counts it.
    for (int i = 0; i < 2; i++) whole[i * channels + c] = part[OWN] ? sums[i] : 0.;
}

// The same from the sums of all workers.
KERNEL normalize_agree(const double* whole, const u32* part, const float* scale, const float* shift, float* running_mean,
                       float* running_variance, float* tracked, float* terms, u32 pixels, u32 channels) {
    u32 c = blockIdx.x * THREADS + threadIdx.x;
    if (c >= channels) return;
    double sums[2] = {whole[c], whole[channels + c]}, rows = (double)part[WHOLE] * pixels;
    observed(c, sums, rows, scale, shift, running_mean, running_variance, tracked, terms, channels);
}

// The terms of evaluation, from the running statistics.
KERNEL normalize_recall(const float* scale, const float* shift, const float* running_mean,
                        const float* running_variance, float* terms, u32 channels) {
    u32 c = blockIdx.x * THREADS + threadIdx.x;
    if (c >= channels) return;
    float times = scale[c] * (float)(1. / sqrt((double)running_variance[c] + 1e-5));
    terms[2 * channels + c] = times;
    terms[3 * channels + c] = shift[c] - running_mean[c] * times;
}

// y = max(times x + plus + residual, least). Where `positive` is given, a bit for each number says whether it passed.
KERNEL normalize_apply(const Number* x, const float* terms, const Number* residual, Number* y, u8* positive,
                       u32 rows, u32 channels, u32 lanes, float least) {
    Walk w = walk(channels, lanes);
    if (!w.inside) return;
    Eight times = load_single(terms + 2 * channels + w.channel);
    Eight plus = load_single(terms + 3 * channels + w.channel);
    for (u32 row = w.row; row < rows; row += DEPTH * w.step) {
        Packed packed[DEPTH], beside[DEPTH];
        #pragma unroll
        for (int d = 0; d < DEPTH; d++) {
            if (row + d * w.step >= rows) break;
            u64 at = (u64)(row + d * w.step) * channels + w.channel;
            packed[d] = load_last(x + at);
            if (residual) beside[d] = load_last(residual + at);
        }
        #pragma unroll
        for (int d = 0; d < DEPTH; d++) {
            if (row + d * w.step >= rows) break;
            u64 at = (u64)(row + d * w.step) * channels + w.channel;
            Eight number = unpack(packed[d]);
            for (int i = 0; i < 8; i++) number.at[i] = number.at[i] * times.at[i] + plus.at[i];
            if (residual) {
                Eight other = unpack(beside[d]);
                for (int i = 0; i < 8; i++) number.at[i] += other.at[i];
            }
            u32 bits = 0;
            for (int i = 0; i < 8; i++) {
                bits |= (number.at[i] > 0.f ? 1u : 0u) << i;
                // NaN stays NaN, which fmaxf would hide.
                number.at[i] = number.at[i] < least ? least : number.at[i];
            }
            store(y + at, number);
            if (positive) positive[at / 8] = (u8)bits;
        }
    }
}

// How the backward pass of a ReLU is known: not there, from the norm's own output, or from stored bits.
#define PLAIN 0
#define RECOMPUTED 1
#define STORED 2

INLINE void rectify(Eight& slope, const Eight& number, const Eight& times, const Eight& plus, u32 bits, u32 relu) {
    for (int i = 0; i < 8; i++) {
        bool passed = relu == STORED ? (bits >> i) & 1 : number.at[i] * times.at[i] + plus.at[i] > 0.f;
        if (relu != PLAIN && !passed) slope.at[i] = 0.f;
    }
}

// The terms of the input's gradient, from the sums of a channel over so many rows.
INLINE void returned(u32 c, const double* sums, double rows, const float* scale, float* terms, u32 channels) {
    double inverse = terms[channels + c], times = scale[c] * inverse;
    double slant = times * sums[1] * inverse * inverse / rows;
    terms[4 * channels + c] = (float)times;
    terms[5 * channels + c] = (float)-slant;
    terms[6 * channels + c] = (float)(slant * terms[c] - times * sums[0] / rows);
}

// Sums of the gradient, and of the gradient times the distance from the mean; from them the gradients of scale and
// shift, and the three terms of the input's gradient. Where `residual` is given it gets the gradient behind the ReLU:
// written, or added if `add`.
SUMMING_KERNEL normalize_reduce(const Number* gradient, const Number* x, const u8* positive, Number* residual, float* partials,
                        u32* arrived, const float* scale, float* terms, float* scale_slope, float* shift_slope,
                        double* whole, u32 rows, u32 channels, u32 lanes, u32 relu, u32 add) {
    Walk w = walk(channels, lanes);
    Eight first = zeros(), second = zeros();
    if (w.inside) {
        Eight mean = load_single(terms + w.channel);
        Eight times = load_single(terms + 2 * channels + w.channel);
        Eight plus = load_single(terms + 3 * channels + w.channel);
        for (u32 row = w.row; row < rows; row += DEPTH * w.step) {
            Packed slopes[DEPTH], numbers[DEPTH];
            u32 bits[DEPTH];
            #pragma unroll
            for (int d = 0; d < DEPTH; d++) {
                if (row + d * w.step >= rows) break;
                u64 at = from_the_end(row + d * w.step, rows, channels, w.channel);
                slopes[d] = load(gradient + at);
                numbers[d] = load(x + at);
                bits[d] = relu == STORED ? positive[at / 8] : 0;
            }
            #pragma unroll
            for (int d = 0; d < DEPTH; d++) {
                if (row + d * w.step >= rows) break;
                u64 at = from_the_end(row + d * w.step, rows, channels, w.channel);
                Eight slope = unpack(slopes[d]), number = unpack(numbers[d]);
                rectify(slope, number, times, plus, bits[d], relu);
                for (int i = 0; i < 8; i++) {
                    first.at[i] += slope.at[i];
                    second.at[i] += slope.at[i] * (number.at[i] - mean.at[i]);
                }
                if (residual) {
                    if (add) {
                        Eight before = load_eight(residual + at);
                        for (int i = 0; i < 8; i++) slope.at[i] += before.at[i];
                    }
                    store(residual + at, slope);
                }
            }
        }
    }
    double sums[2];
    if (!add_up(first, second, lanes, partials, arrived, sums)) return;
    u32 c = blockIdx.x * lanes * 8 + threadIdx.x;
    if (c >= channels) return;
    // The gradients of scale and shift are summed over the workers later, with those of all other vectors.
    scale_slope[c] = (float)(sums[1] * terms[channels + c]);
    shift_slope[c] = (float)sums[0];
    if (!whole) return returned(c, sums, rows, scale, terms, channels);
    for (int i = 0; i < 2; i++) whole[i * channels + c] = sums[i];
}

// The same from the sums of all workers; an example that only goes through the motions is given no gradient.
KERNEL normalize_agree_backward(const double* whole, const u32* part, const float* scale, float* terms, u32 pixels,
                                u32 channels) {
    u32 c = blockIdx.x * THREADS + threadIdx.x;
    if (c >= channels) return;
    double sums[2] = {whole[c], whole[channels + c]};
    returned(c, sums, (double)part[WHOLE] * pixels, scale, terms, channels);
    for (u32 term = 4; term < 7 && !part[OWN]; term++) terms[term * channels + c] = 0.f;
}

// The input's gradient: a slope + b number + c, written or added.
KERNEL normalize_spread(const Number* gradient, const Number* x, const u8* positive, const float* terms, Number* to,
                        u32 rows, u32 channels, u32 lanes, u32 relu, u32 add) {
    Walk w = walk(channels, lanes);
    if (!w.inside) return;
    Eight times = load_single(terms + 2 * channels + w.channel);
    Eight plus = load_single(terms + 3 * channels + w.channel);
    Eight a = load_single(terms + 4 * channels + w.channel);
    Eight b = load_single(terms + 5 * channels + w.channel);
    Eight c = load_single(terms + 6 * channels + w.channel);
    for (u32 row = w.row; row < rows; row += DEPTH * w.step) {
        Packed slopes[DEPTH], numbers[DEPTH];
        u32 bits[DEPTH];
        #pragma unroll
        for (int d = 0; d < DEPTH; d++) {
            if (row + d * w.step >= rows) break;
            u64 at = (u64)(row + d * w.step) * channels + w.channel;
            slopes[d] = load_last(gradient + at);
            numbers[d] = load_last(x + at);
            bits[d] = relu == STORED ? positive[at / 8] : 0;
        }
        #pragma unroll
        for (int d = 0; d < DEPTH; d++) {
            if (row + d * w.step >= rows) break;
            u64 at = (u64)(row + d * w.step) * channels + w.channel;
            Eight slope = unpack(slopes[d]), number = unpack(numbers[d]);
            rectify(slope, number, times, plus, bits[d], relu);
            for (int i = 0; i < 8; i++) slope.at[i] = a.at[i] * slope.at[i] + b.at[i] * number.at[i] + c.at[i];
            if (add) {
                Eight before = load_eight(to + at);
                for (int i = 0; i < 8; i++) slope.at[i] += before.at[i];
            }
            store(to + at, slope);
        }
    }
}
