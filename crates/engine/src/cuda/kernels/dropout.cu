// Dropout with the words of the named streams: Philox4x32-10, whose n-th word is computed from n.
//
// Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.

INLINE uint4 philox(uint4 counter, u32 left, u32 right) {
    for (int round = 0; round < 10; round++) {
        u32 first_high = __umulhi(counter.x, 0xD2511F53u), first_low = counter.x * 0xD2511F53u;
        u32 second_high = __umulhi(counter.z, 0xCD9E8D57u), second_low = counter.z * 0xCD9E8D57u;
        counter = make_uint4(second_high ^ counter.y ^ left, second_low, first_high ^ counter.w ^ right, first_low);
        left += 0x9E3779B9u;
        right += 0xBB67AE85u;
    }
    return counter;
}

// y = x times 0 or `kept`, drawn by the place of the number in a batch without padding. The step is read from memory, so
// that a captured graph draws anew, and so is how many examples of the batch other workers have before these. Forward and
// backward are the same.
KERNEL dropout(const Number* x, Number* y, const u32* step, const u32* before, u32 size, u32 pixels, u32 channels,
               u32 padded, uint4 stream, float kept) {
    u32 eights = padded / 8;
    EACH(i, pixels * eights) {
        u32 first = i % eights * 8;
        u64 place = (u64)before[0] * size + (u64)(i / eights) * channels + first;
        Eight number = load_eight(x + (u64)i * 8);
        u64 block = ~0ull;
        uint4 words;
        for (int k = 0; k < 8; k++) {
            if ((place + k) / 4 != block) {
                block = (place + k) / 4;
                words = philox(make_uint4((u32)block, step[0], step[1], stream.z), stream.x, stream.y);
            }
            u32 lane = (place + k) % 4;
            u32 word = lane == 0 ? words.x : lane == 1 ? words.y : lane == 2 ? words.z : words.w;
            number.at[k] = first + k < channels && word >= stream.w ? number.at[k] * kept : 0.f;
        }
        store(y + (u64)i * 8, number);
    }
}
