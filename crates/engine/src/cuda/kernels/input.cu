// A batch from the rows of a set that lies on the device: gathered, cropped, turned, brought to one scale, padded.
//
// `order` has two words of the step, then the rows, then the crops.

// A crop: 15 bits of rows and of columns, each 16384 for none, and whether it is turned left to right.
INLINE int crop_row(u32 crop) { return (int)(crop & 32767u) - 16384; }
INLINE int crop_column(u32 crop) { return (int)(crop >> 15 & 32767u) - 16384; }

// A pixel under a window: where it lies in the image, and whether it does at all.
struct Source {
    int row, column;
    bool padding;
};

INLINE Source under(const Window& w, u32 place, u32 tap) {
    Source s;
    s.row = (int)(place / w.out_width * w.stride + tap / w.kernel_width) - (int)w.padding;
    s.column = (int)(place % w.out_width * w.stride + tap % w.kernel_width) - (int)w.padding;
    s.padding = s.row < 0 || s.column < 0 || s.row >= (int)w.height || s.column >= (int)w.width;
    return s;
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
        for (int k = 0; k < 8; k++) {
            u32 tap = (first + k) / w.channels, channel = (first + k) % w.channels;
            Source s = under(w, place % area, tap);
            number.at[k] = 0.f;
            if (first + k >= numbers || s.padding) continue;
            if (cropped) {
                if (crop >> 31) s.column = w.width - 1 - s.column;
                s.row += crop_row(crop);
                s.column += crop_column(crop);
            }
            bool inside = s.row >= 0 && s.column >= 0 && s.row < (int)w.height && s.column < (int)w.width;
            u32 byte = inside ? image[((u32)s.row * w.width + s.column) * w.channels + channel] : 0;
            number.at[k] = table[channel * 256 + byte];
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
        for (int k = 0; k < 8; k++) {
            u32 tap = (first + k) / w.channels, channel = (first + k) % w.channels;
            Source s = under(w, place % area, tap);
            number.at[k] = 0.f;
            if (first + k >= numbers || s.padding) continue;
            u32 at = ((u32)s.row * w.width + s.column) * w.channels + channel;
            float value = row[at];
            if (mean) value = isnan(value) ? 0.f : __fdiv_rn(__fsub_rn(value, mean[at]), deviation[at]);
            number.at[k] = value;
        }
        store(to + (u64)i * 8, number);
    }
}
