// A batch from the rows of a set that lies on the device: gathered, cropped, turned, brought to one scale, padded.
//
// `order` has two words of the step, then the rows, then the crops.

// A crop: 15 bits of rows and of columns, each 16384 for none, and whether it is turned left to right.
INLINE int crop_row(u32 crop) { return (int)(crop & 32767u) - 16384; }
INLINE int crop_column(u32 crop) { return (int)(crop >> 15 & 32767u) - 16384; }

// Images of one byte a channel; `table` has the number of each byte in each channel. What a crop finds outside the image
// is black.
KERNEL gather_images(const u8* pixels, const u32* order, const float* table, Number* to, u32 examples, u32 cropped,
                     u32 height, u32 width, u32 channels, u32 padded) {
    u32 area = height * width, eights = padded / 8;
    EACH(i, examples * area * eights) {
        u32 first = i % eights * 8, place = i / eights, example = place / area;
        int row = place % area / width, column = place % width;
        if (cropped) {
            u32 crop = order[2 + examples + example];
            if (crop >> 31) column = width - 1 - column;
            row += crop_row(crop);
            column += crop_column(crop);
        }
        bool inside = row >= 0 && column >= 0 && row < (int)height && column < (int)width;
        const u8* pixel = pixels + ((u64)order[2 + example] * area + (u64)row * width + column) * channels;
        Eight number;
        for (int k = 0; k < 8; k++) {
            u32 channel = first + k;
            number.at[k] = channel < channels ? table[channel * 256 + (inside ? pixel[channel] : 0)] : 0.f;
        }
        store(to + (u64)i * 8, number);
    }
}

// Rows of numbers, standardized where a mean is given; a missing number then stands at the mean.
KERNEL gather_rows(const float* numbers, const u32* order, const float* mean, const float* deviation, Number* to,
                   u32 examples, u32 area, u32 channels, u32 padded) {
    u32 eights = padded / 8, size = area * channels;
    EACH(i, examples * area * eights) {
        u32 first = i % eights * 8, place = i / eights, start = place % area * channels + first;
        const float* row = numbers + (u64)order[2 + place / area] * size;
        Eight number;
        for (int k = 0; k < 8; k++) {
            float value = first + k < channels ? row[start + k] : 0.f;
            if (mean && first + k < channels)
                value = isnan(value) ? 0.f : __fdiv_rn(__fsub_rn(value, mean[start + k]), deviation[start + k]);
            number.at[k] = value;
        }
        store(to + (u64)i * 8, number);
    }
}
