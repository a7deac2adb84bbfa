// The bias and the ReLU of a convolution or a linear layer.

// y = max(y + bias, least), in place.
KERNEL bias_add(Number* y, const float* bias, u32 rows, u32 channels, u32 lanes, float least) {
    Walk w = walk(channels, lanes);
    if (!w.inside) return;
    Eight plus = bias ? load_single(bias + w.channel) : zeros();
    for (u32 row = w.row; row < rows; row += w.step) {
        u64 at = (u64)row * channels + w.channel;
        Eight number = load_eight(y + at);
        for (int i = 0; i < 8; i++) {
            number.at[i] += plus.at[i];
            number.at[i] = number.at[i] < least ? least : number.at[i];
        }
        store(y + at, number);
    }
}

// The backward pass of the ReLU in place, where there is an output to tell, and the gradient of the bias.
SUMMING_KERNEL bias_reduce(Number* gradient, const Number* y, float* partials, u32* arrived, float* bias_slope, u32 rows,
                   u32 channels, u32 lanes) {
    Walk w = walk(channels, lanes);
    Eight first = zeros();
    if (w.inside) {
        for (u32 row = w.row; row < rows; row += 4 * w.step) {
            Packed slopes[4], outputs[4];
            #pragma unroll
            for (int d = 0; d < 4; d++) {
                if (row + d * w.step >= rows) break;
                u64 at = from_the_end(row + d * w.step, rows, channels, w.channel);
                slopes[d] = load(gradient + at);
                if (y) outputs[d] = load(y + at);
            }
            #pragma unroll
            for (int d = 0; d < 4; d++) {
                if (row + d * w.step >= rows) break;
                u64 at = from_the_end(row + d * w.step, rows, channels, w.channel);
                Eight slope = unpack(slopes[d]);
                if (y) {
                    Eight output = unpack(outputs[d]);
                    for (int i = 0; i < 8; i++)
                        if (!(output.at[i] > 0.f)) slope.at[i] = 0.f;
                    store(gradient + at, slope);
                }
                for (int i = 0; i < 8; i++) first.at[i] += slope.at[i];
            }
        }
    }
    double sums[2];
    if (!add_up(first, zeros(), lanes, partials, arrived, sums)) return;
    u32 c = blockIdx.x * lanes * 8 + threadIdx.x;
    if (c < channels) bias_slope[c] = (float)sums[0];
}

// The logits of the last linear layer as the host takes them: with their bias, without the padding.
KERNEL logits_finish(const float* y, const float* bias, float* logits, u32 rows, u32 classes, u32 padded) {
    u32 at = blockIdx.x * THREADS + threadIdx.x;
    if (at >= rows * classes) return;
    u32 row = at / classes, column = at % classes;
    logits[at] = y[(u64)row * padded + column] + bias[column];
}
