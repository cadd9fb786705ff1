// Functions that run on host and device alike.
#pragma once

#ifdef __CUDACC__
#define DELTAMATCH_HOST_DEVICE __host__ __device__
#else
#define DELTAMATCH_HOST_DEVICE
#endif
