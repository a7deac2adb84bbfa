// Walks over [rows][channels], and sums over rows that come out the same in every run.
//
// A block holds `lanes` times eight channels, a group; what is left of its threads takes rows side by side. The grid is
// (groups, splits): the blocks of a group share the rows. Passes that sum go from the last row to the first, because what
// was written last is still in the cache; the passes after them go forward again, for the same reason.

struct Walk {
    u32 channel, row, step;
    bool inside;
};

INLINE Walk walk(u32 channels, u32 lanes) {
    u32 rows = blockDim.x / lanes;
    Walk walk;
    walk.channel = (blockIdx.x * lanes + threadIdx.x % lanes) * 8;
    walk.row = blockIdx.y * rows + threadIdx.x / lanes;
    walk.step = gridDim.y * rows;
    walk.inside = walk.channel < channels;
    return walk;
}

// Where eight channels of a row begin, the rows counted from the last.
INLINE u64 from_the_end(u32 row, u32 rows, u32 channels, u32 channel) {
    return (u64)(rows - 1 - row) * channels + channel;
}

INLINE Eight zeros() { return Eight{{0.f, 0.f, 0.f, 0.f, 0.f, 0.f, 0.f, 0.f}}; }

// Adds up two sums a channel over the block, and then over all blocks of the group. The block that comes last does the
// latter, in the order of the blocks whoever it is. Its thread `t` below 8 lanes then has the sums of channel `t` of the
// group, and is told so.
INLINE bool add_up(Eight first, Eight second, u32 lanes, float* partials, u32* arrived, double* sums) {
    const u32 warps = SUMMING_THREADS / 32, width = 64;
    __shared__ float block[warps][2 * width];
    __shared__ bool last;
    u32 thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
    for (u32 apart = lanes; apart < 32; apart *= 2) {
        for (int i = 0; i < 8; i++) {
            first.at[i] += __shfl_xor_sync(~0u, first.at[i], apart);
            second.at[i] += __shfl_xor_sync(~0u, second.at[i], apart);
        }
    }
    if (lane < 8) {
        // Lanes beyond the group's leave zeros.
        for (int i = 0; i < 8; i++) {
            block[warp][lane * 8 + i] = lane < lanes ? first.at[i] : 0.f;
            block[warp][width + lane * 8 + i] = lane < lanes ? second.at[i] : 0.f;
        }
    }
    __syncthreads();
    float* mine = partials + (u64)blockIdx.x * gridDim.y * 2 * width;
    if (thread < 2 * width) {
        float sum = 0.f;
        for (u32 w = 0; w < warps; w++) sum += block[w][thread];
        mine[blockIdx.y * 2 * width + thread] = sum;
        __threadfence();
    }
    __syncthreads();
    if (thread == 0) last = atomicAdd(arrived + blockIdx.x, 1) == gridDim.y - 1;
    __syncthreads();
    if (!last) return false;
    __threadfence();
    float4 total = make_float4(0.f, 0.f, 0.f, 0.f);
    #pragma unroll 8
    for (u32 split = warp; split < gridDim.y; split += warps) {
        float4 four = __ldcg((const float4*)(mine + split * 2 * width) + lane);
        total.x += four.x, total.y += four.y, total.z += four.z, total.w += four.w;
    }
    *(float4*)&block[warp][lane * 4] = total;
    __syncthreads();
    if (thread == 0) arrived[blockIdx.x] = 0;
    if (thread >= lanes * 8) return false;
    sums[0] = sums[1] = 0.;
    for (u32 w = 0; w < warps; w++) {
        sums[0] += block[w][thread];
        sums[1] += block[w][width + thread];
    }
    return true;
}
