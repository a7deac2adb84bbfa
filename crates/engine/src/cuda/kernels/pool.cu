// Pools over windows; each thread has eight channels of a pixel. Gradients are gathered, so nothing is added at random.

struct Pixel {
    u32 image, row, column, channel;
};

INLINE Pixel pixel(u32 index, u32 height, u32 width, u32 channels) {
    u32 eights = channels / 8;
    Pixel p;
    p.channel = index % eights * 8;
    index /= eights;
    p.column = index % width;
    index /= width;
    p.row = index % height;
    p.image = index / height;
    return p;
}

struct Window {
    u32 height, width, out_height, out_width, channels, kernel_height, kernel_width, stride, padding;
};

INLINE u64 input_at(const Window& w, u32 image, int row, int column, u32 channel) {
    return (((u64)image * w.height + row) * w.width + column) * w.channels + channel;
}

INLINE u64 output_at(const Window& w, u32 image, u32 row, u32 column, u32 channel) {
    return (((u64)image * w.out_height + row) * w.out_width + column) * w.channels + channel;
}

// The first window along an axis that covers a pixel, and the first after it that does not.
INLINE u32 first_window(u32 place, u32 padding, u32 kernel, u32 stride) {
    u32 padded = place + padding;
    return padded < kernel ? 0 : (padded - kernel) / stride + 1;
}

INLINE u32 last_window(u32 place, u32 padding, u32 stride, u32 count) {
    u32 last = (place + padding) / stride;
    return last < count ? last : count - 1;
}

// The largest number under each window, and at which tap it was: the first of equals.
KERNEL max_pool(const Number* x, Number* y, u8* taps, u32 count, Window w) {
    EACH(i, count) {
        Pixel p = pixel(i, w.out_height, w.out_width, w.channels);
        Eight most;
        u32 at[8];
        bool none = true;
        for (u32 tap = 0; tap < w.kernel_height * w.kernel_width; tap++) {
            int row = (int)(p.row * w.stride + tap / w.kernel_width) - (int)w.padding;
            int column = (int)(p.column * w.stride + tap % w.kernel_width) - (int)w.padding;
            if (row < 0 || column < 0 || row >= (int)w.height || column >= (int)w.width) continue;
            Eight number = load_eight(x + input_at(w, p.image, row, column, p.channel));
            for (int k = 0; k < 8; k++) {
                if (none || number.at[k] > most.at[k] || isnan(number.at[k])) {
                    most.at[k] = number.at[k];
                    at[k] = tap;
                }
            }
            none = false;
        }
        store(y + (u64)i * 8, most);
        if (taps) {
            u32 low = at[0] | at[1] << 8 | at[2] << 16 | at[3] << 24;
            u32 high = at[4] | at[5] << 8 | at[6] << 16 | at[7] << 24;
            *(uint2*)(taps + (u64)i * 8) = make_uint2(low, high);
        }
    }
}

KERNEL max_pool_backward(const Number* gradient, const u8* taps, Number* to, u32 count, Window w, u32 add) {
    EACH(i, count) {
        Pixel p = pixel(i, w.height, w.width, w.channels);
        Eight slope = add ? load_eight(to + (u64)i * 8) : zeros();
        u32 last_row = last_window(p.row, w.padding, w.stride, w.out_height);
        u32 last_column = last_window(p.column, w.padding, w.stride, w.out_width);
        for (u32 row = first_window(p.row, w.padding, w.kernel_height, w.stride); row <= last_row; row++) {
            for (u32 column = first_window(p.column, w.padding, w.kernel_width, w.stride); column <= last_column;
                 column++) {
                u64 at = output_at(w, p.image, row, column, p.channel);
                u32 tap = (p.row + w.padding - row * w.stride) * w.kernel_width + p.column + w.padding -
                          column * w.stride;
                uint2 stored = *(const uint2*)(taps + at);
                Eight part = load_eight(gradient + at);
                for (int k = 0; k < 8; k++) {
                    u32 winner = ((k < 4 ? stored.x : stored.y) >> (k % 4 * 8)) & 255;
                    if (winner == tap) slope.at[k] += part.at[k];
                }
            }
        }
        store(to + (u64)i * 8, slope);
    }
}

// The mean under each window; what lies outside the image counts as zero.
KERNEL average_pool(const Number* x, Number* y, u32 count, Window w) {
    float share = 1.f / (w.kernel_height * w.kernel_width);
    EACH(i, count) {
        Pixel p = pixel(i, w.out_height, w.out_width, w.channels);
        Eight total = zeros();
        for (u32 tap = 0; tap < w.kernel_height * w.kernel_width; tap++) {
            int row = (int)(p.row * w.stride + tap / w.kernel_width) - (int)w.padding;
            int column = (int)(p.column * w.stride + tap % w.kernel_width) - (int)w.padding;
            if (row < 0 || column < 0 || row >= (int)w.height || column >= (int)w.width) continue;
            Eight number = load_eight(x + input_at(w, p.image, row, column, p.channel));
            for (int k = 0; k < 8; k++) total.at[k] += number.at[k];
        }
        for (int k = 0; k < 8; k++) total.at[k] *= share;
        store(y + (u64)i * 8, total);
    }
}

KERNEL average_pool_backward(const Number* gradient, Number* to, u32 count, Window w, u32 add) {
    float share = 1.f / (w.kernel_height * w.kernel_width);
    EACH(i, count) {
        Pixel p = pixel(i, w.height, w.width, w.channels);
        Eight total = zeros();
        u32 last_row = last_window(p.row, w.padding, w.stride, w.out_height);
        u32 last_column = last_window(p.column, w.padding, w.stride, w.out_width);
        for (u32 row = first_window(p.row, w.padding, w.kernel_height, w.stride); row <= last_row; row++) {
            for (u32 column = first_window(p.column, w.padding, w.kernel_width, w.stride); column <= last_column;
                 column++) {
                Eight part = load_eight(gradient + output_at(w, p.image, row, column, p.channel));
                for (int k = 0; k < 8; k++) total.at[k] += part.at[k];
            }
        }
        for (int k = 0; k < 8; k++) total.at[k] *= share;
        if (add) {
            Eight before = load_eight(to + (u64)i * 8);
            for (int k = 0; k < 8; k++) total.at[k] += before.at[k];
        }
        store(to + (u64)i * 8, total);
    }
}
