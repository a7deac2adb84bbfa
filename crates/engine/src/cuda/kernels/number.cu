// Numbers as they are stored, eight at a time: bf16 or single precision. All arithmetic is in single precision.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

#define INLINE __device__ __forceinline__
#define THREADS 256
#define SUMMING_THREADS 512
#define KERNEL extern "C" __global__ void __launch_bounds__(THREADS)
#define SUMMING_KERNEL extern "C" __global__ void __launch_bounds__(SUMMING_THREADS)

// Eight single-precision numbers.
struct Eight {
    float at[8];
};

#ifdef BF16
typedef u16 Number;
typedef uint4 Packed;

INLINE Packed load(const Number* from) { return *(const uint4*)from; }

// The same for what nobody reads again soon, so that it makes room in the cache for what somebody does.
INLINE Packed load_last(const Number* from) { return __ldcs((const uint4*)from); }

INLINE Eight unpack(Packed packed) {
    u32 words[4] = {packed.x, packed.y, packed.z, packed.w};
    Eight eight;
    for (int i = 0; i < 4; i++) {
        eight.at[2 * i] = __uint_as_float(words[i] << 16);
        eight.at[2 * i + 1] = __uint_as_float(words[i] & 0xffff0000u);
    }
    return eight;
}

INLINE u32 round_pair(float low, float high) {
    u32 pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
}

INLINE void store(Number* to, const Eight& eight) {
    const float* at = eight.at;
    *(uint4*)to = make_uint4(round_pair(at[0], at[1]), round_pair(at[2], at[3]), round_pair(at[4], at[5]),
                             round_pair(at[6], at[7]));
}

INLINE float read(const Number* from) { return __uint_as_float((u32)*from << 16); }
#else
typedef float Number;
struct Packed {
    float4 low, high;
};

INLINE Packed load(const Number* from) {
    Packed packed;
    packed.low = ((const float4*)from)[0];
    packed.high = ((const float4*)from)[1];
    return packed;
}

INLINE Packed load_last(const Number* from) {
    Packed packed;
    packed.low = __ldcs((const float4*)from);
    packed.high = __ldcs((const float4*)from + 1);
    return packed;
}

INLINE Eight unpack(Packed p) {
    return Eight{{p.low.x, p.low.y, p.low.z, p.low.w, p.high.x, p.high.y, p.high.z, p.high.w}};
}

INLINE float read(const Number* from) { return *from; }
#endif

INLINE Eight load_single(const float* from) {
    float4 low = ((const float4*)from)[0], high = ((const float4*)from)[1];
    return Eight{{low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w}};
}

INLINE void store_single(float* to, const Eight& eight) {
    const float* at = eight.at;
    ((float4*)to)[0] = make_float4(at[0], at[1], at[2], at[3]);
    ((float4*)to)[1] = make_float4(at[4], at[5], at[6], at[7]);
}

#ifndef BF16
INLINE void store(Number* to, const Eight& eight) { store_single(to, eight); }
#endif

INLINE Eight load_eight(const Number* from) { return unpack(load(from)); }
