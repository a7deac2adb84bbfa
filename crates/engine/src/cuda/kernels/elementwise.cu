// Sums, ReLUs, gradients handed on, and the way in and out of the padded layout.

#define EACH(i, count) for (u32 i = blockIdx.x * THREADS + threadIdx.x; i < count; i += gridDim.x * THREADS)

// y = max(a + b, least); `b` may be missing. Counts are of eight numbers.
KERNEL sum(const Number* a, const Number* b, Number* y, u32 count, float least) {
    EACH(i, count) {
        Eight number = load_eight(a + (u64)i * 8);
        if (b) {
            Eight other = load_eight(b + (u64)i * 8);
            for (int k = 0; k < 8; k++) number.at[k] += other.at[k];
        }
        for (int k = 0; k < 8; k++) number.at[k] = number.at[k] < least ? least : number.at[k];
        store(y + (u64)i * 8, number);
    }
}

// The backward pass of a ReLU, in place.
KERNEL mask(Number* gradient, const Number* y, u32 count) {
    EACH(i, count) {
        Eight slope = load_eight(gradient + (u64)i * 8), output = load_eight(y + (u64)i * 8);
        for (int k = 0; k < 8; k++)
            if (!(output.at[k] > 0.f)) slope.at[k] = 0.f;
        store(gradient + (u64)i * 8, slope);
    }
}

// Hands a gradient on: copied, or added to what is there.
KERNEL deliver(const Number* from, Number* to, u32 count, u32 add) {
    EACH(i, count) {
        Eight slope = load_eight(from + (u64)i * 8);
        if (add) {
            Eight before = load_eight(to + (u64)i * 8);
            for (int k = 0; k < 8; k++) slope.at[k] += before.at[k];
        }
        store(to + (u64)i * 8, slope);
    }
}

// Single-precision numbers without padding, [pixels][channels], into the padded layout.
KERNEL pad(const float* from, Number* to, u32 pixels, u32 channels, u32 padded) {
    u32 eights = padded / 8;
    EACH(i, pixels * eights) {
        u32 pixel = i / eights, first = i % eights * 8;
        Eight number;
        for (int k = 0; k < 8; k++)
            number.at[k] = first + k < channels ? from[(u64)pixel * channels + first + k] : 0.f;
        store(to + (u64)i * 8, number);
    }
}

// And out of it.
KERNEL unpad(const Number* from, float* to, u32 pixels, u32 channels, u32 padded) {
    EACH(i, pixels * channels) {
        u32 pixel = i / channels, channel = i % channels;
        to[i] = read(from + (u64)pixel * padded + channel);
    }
}

// Master weights as the convolutions take them.
KERNEL narrow(const float* from, Number* to, u32 count) {
    EACH(i, count) { store(to + (u64)i * 8, load_single(from + (u64)i * 8)); }
}
