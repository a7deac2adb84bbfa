// A batch from the rows of a set that lies on the device: gathered, cropped, turned, brought to one scale, padded.
//
// `order` has two words of the step, then the rows, then the crops.

// A crop: 15 bits of rows and of columns, each 16384 for none, and whether it is turned left to right.
INLINE int crop_row(u32 crop) { return (int)(crop & 32767u) - 16384; }
INLINE int crop_column(u32 crop) { return (int)(crop >> 15 & 32767u) - 16384; }

// Goes through what lies under a window, channel by channel and then pixel by pixel, without dividing for each number.
struct Under {
    int row, column;
    u32 channel, across, down;
};

INLINE Under under(const Window& w, u32 place, u32 number) {
    Under u;
    u32 tap = number / w.channels;
    u.channel = number % w.channels;
    u.across = tap % w.kernel_width;
    u.down = tap / w.kernel_width;
    u.row = (int)(place / w.out_width * w.stride + u.down) - (int)w.padding;
    u.column = (int)(place % w.out_width * w.stride + u.across) - (int)w.padding;
    return u;
}

INLINE void next(Under& u, const Window& w) {
    if (++u.channel < w.channels) return;
    u.channel = 0;
    u.across++, u.column++;
    if (u.across < w.kernel_width) return;
    u.column -= w.kernel_width;
    u.across = 0;
    u.down++, u.row++;
}

INLINE bool within(int row, int column, const Window& w) {
    return row >= 0 && column >= 0 && row < (int)w.height && column < (int)w.width;
}

// What the first layer reads: pixels, or all that lies under its kernel side by side (a window of more than one pixel),
// padded to a multiple of eight. The windows' padding is zeros.

// Images of one byte a channel; `table` has the number of each byte in each channel. What a crop finds outside the image
// is black.
KERNEL gather_images(const u8* pixels, const u32* order, const float* table, Number* to, u32 examples, u32 cropped,
                     Window w) {
    u32 numbers = w.kernel_height * w.kernel_width * w.channels, eights = (numbers + 7) / 8;
    u32 area = w.out_height * w.out_width;
    EACH(i, examples * area * eights) {
        u32 first = i % eights * 8, place = i / eights, example = place / area;
        u32 crop = cropped ? order[2 + examples + example] : 0;
        const u8* image = pixels + (u64)order[2 + example] * w.height * w.width * w.channels;
        Eight number;
        Under u = under(w, place % area, first);
        for (int k = 0; k < 8; k++, next(u, w)) {
            number.at[k] = 0.f;
            if (first + k >= numbers || !within(u.row, u.column, w)) continue;
            int row = u.row, column = u.column;
            if (cropped) {
                if (crop >> 31) column = w.width - 1 - column;
                row += crop_row(crop);
                column += crop_column(crop);
            }
            u32 at = ((u32)row * w.width + column) * w.channels + u.channel;
            u32 byte = within(row, column, w) ? image[at] : 0;
            number.at[k] = table[u.channel * 256 + byte];
        }
        store(to + (u64)i * 8, number);
    }
}

// Rows of numbers, standardized where a mean is given; a missing number then stands at the mean.
KERNEL gather_rows(const float* rows, const u32* order, const float* mean, const float* deviation, Number* to,
                   u32 examples, Window w) {
    u32 numbers = w.kernel_height * w.kernel_width * w.channels, eights = (numbers + 7) / 8;
    u32 area = w.out_height * w.out_width, size = w.height * w.width * w.channels;
    EACH(i, examples * area * eights) {
        u32 first = i % eights * 8, place = i / eights;
        const float* row = rows + (u64)order[2 + place / area] * size;
        Eight number;
        Under u = under(w, place % area, first);
        for (int k = 0; k < 8; k++, next(u, w)) {
            number.at[k] = 0.f;
            if (first + k >= numbers || !within(u.row, u.column, w)) continue;
            u32 at = ((u32)u.row * w.width + u.column) * w.channels + u.channel;
            float value = row[at];
            if (mean) value = isnan(value) ? 0.f : __fdiv_rn(__fsub_rn(value, mean[at]), deviation[at]);
            number.at[k] = value;
        }
        store(to + (u64)i * 8, number);
    }
}
