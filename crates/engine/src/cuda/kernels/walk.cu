// Walks over [rows][channels], and sums over rows that come out the same in every run.
//
// A block holds `lanes` times eight channels, a group; what is left of its threads takes rows side by side. The grid is
// (groups, splits): the blocks of a group share the rows.

struct Walk {
    u32 channel, row, step;
    bool inside;
};

INLINE Walk walk(u32 channels, u32 lanes) {
    u32 rows = THREADS / lanes;
    Walk walk;
    walk.channel = (blockIdx.x * lanes + threadIdx.x % lanes) * 8;
    walk.row = blockIdx.y * rows + threadIdx.x / lanes;
    walk.step = gridDim.y * rows;
    walk.inside = walk.channel < channels;
    return walk;
}

INLINE Eight zeros() { return Eight{{0.f, 0.f, 0.f, 0.f, 0.f, 0.f, 0.f, 0.f}}; }

// Adds up two sums a channel over the block, and then over all blocks of the group. The block that comes last does the
// latter, in the order of the blocks whoever it is. Its thread `t` below 8 lanes then has the sums of channel `t` of the
// group, and is told so.
INLINE bool add_up(Eight first, Eight second, u32 lanes, float* partials, u32* arrived, double* sums) {
    const u32 warps = THREADS / 32, width = 64;
    __shared__ float block[warps][2 * width];
    __shared__ double columns[warps][2 * width];
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
    double total[4] = {0., 0., 0., 0.};
    #pragma unroll 8
    for (u32 split = warp; split < gridDim.y; split += warps) {
        float4 four = __ldcg((const float4*)(mine + split * 2 * width) + lane);
        total[0] += four.x, total[1] += four.y, total[2] += four.z, total[3] += four.w;
    }
    for (int i = 0; i < 4; i++) columns[warp][lane * 4 + i] = total[i];
    __syncthreads();
    if (thread == 0) arrived[blockIdx.x] = 0;
    if (thread >= lanes * 8) return false;
    sums[0] = sums[1] = 0.;
    for (u32 w = 0; w < warps; w++) {
        sums[0] += columns[w][thread];
        sums[1] += columns[w][width + thread];
    }
    return true;
}
