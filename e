scripts/gpu-run: test_gpu is not in the bundle
scripts/gpu-run: test_gpu_match is not in the bundle
