"""scripts/setup --cuda fetches the CUDA compiler once, whole or not at all, and not if there is one. CMake finds what it has
installed. scripts/test names the GPU step if no compiler can be had. Stand-ins replace pip, the packages and nvcc."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NVCC = '#!/bin/sh\necho "$0" >>"$CALLS"\n'
PIP = """#!/bin/sh
case " $* " in *" --version "*) exit 0 ;; esac
echo "pip $*" >>"$CALLS"
[ -z "$PIP_FAILS" ] || { echo "WARNING: retrying"; echo "ERROR: No matching distribution found"; echo "the end"; exit 1; }
while [ "$1" != --target ]; do shift; done
cuda=$2/nvidia/cu13
mkdir -p "$cuda/bin" "$cuda/lib" "$2/nvidia_nvvm-13.dist-info"
cp "$NVCC" "$cuda/bin/nvcc"
touch "$cuda/lib/libcudart.so.13" "$cuda/lib/libcudart_static.a" "$cuda/lib/libnvrtc-builtins.so.13.0"
"""


class Folder(unittest.TestCase):
    """A repository of a few scripts, and a PATH that begins with stand-ins and holds no nvcc otherwise."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = pathlib.Path(directory.name, "repository")
        self.path = pathlib.Path(directory.name, "path")
        self.calls = pathlib.Path(directory.name, "calls")
        self.path.mkdir()
        for name in ("scripts/setup", "scripts/test", "scripts/steps.sh", "cmake/cuda-wheels.txt"):
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.root / name)
        self.program(self.path / "python3", PIP)
        self.program(self.path / "apt-get", '#!/bin/sh\necho "apt-get $*" >>"$CALLS"\n')
        self.program(self.path / "dpkg-query", "#!/bin/sh\nsed 's/^/ii /' \"$INSTALLED\"\n")
        self.program(self.root.parent / "nvcc", NVCC)
        packages = subprocess.run([ROOT / "scripts/setup", "--dev", "--cuda", "--list"], capture_output=True, text=True, check=True,
                                  env=self.environment()).stdout
        (self.root.parent / "installed").write_text(packages)

    def program(self, path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def environment(self, **more):
        rest = [folder for folder in os.environ["PATH"].split(":") if not pathlib.Path(folder, "nvcc").exists()]
        inherited = {name: value for name, value in os.environ.items() if name != "CUDACXX"}
        return {**inherited, "PATH": ":".join([str(self.path), *rest]), "CALLS": str(self.calls), "NVCC": str(self.root.parent / "nvcc"),
                "INSTALLED": str(self.root.parent / "installed"), "PIP_FAILS": "", **more}

    def run_script(self, *command, **more):
        return subprocess.run([self.root / command[0], *command[1:]], capture_output=True, text=True, check=False, timeout=120,
                              env=self.environment(**more))

    def called(self, what):
        return [line for line in (self.calls.read_text().splitlines() if self.calls.exists() else []) if line.startswith(what)]


class Setup(Folder):
    WHEELS = ["nvidia-cuda-nvcc", "nvidia-nvvm", "nvidia-cuda-crt", "nvidia-cuda-runtime", "nvidia-cuda-cccl", "nvidia-nvtx",
              "nvidia-cuda-nvrtc"]

    def test_each_wheel_has_one_version_and_hashes(self):
        listed = self.run_script("scripts/setup", "--build", "--cuda", "--list").stdout.split()
        self.assertIn("python3-pip", listed)
        wheels = [re.fullmatch(r"(nvidia-.*)==13\.0\.\d+", name).group(1) for name in listed if name.startswith("nvidia-")]
        self.assertEqual(wheels, self.WHEELS)
        pinned = (ROOT / "cmake/cuda-wheels.txt").read_text()
        for entry in re.split(r"\n(?=nvidia-)", pinned)[1:]:
            self.assertEqual(len(re.findall(r"--hash=sha256:[0-9a-f]{64}\b", entry)), 2, entry)
        self.assertNotIn("nvidia", self.run_script("scripts/setup", "--dev", "--list").stdout)

    def test_a_first_run_makes_a_toolkit_and_a_second_does_nothing(self):
        done = self.run_script("scripts/setup", "--cuda")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("nvidia-cuda-nvcc==13.0.", done.stdout)
        [fetched] = self.called("pip")
        self.assertIn(" --require-hashes ", fetched)
        toolkit = self.root / ".cuda/toolkit"
        for name in ("bin/nvcc", "lib64/libcudart_static.a", "lib64/libcudart.so", "lib/libnvrtc-builtins.so", "nvidia_nvvm-13.dist-info"):
            self.assertTrue((toolkit / name).exists(), name)
        self.assertEqual([entry.name for entry in (self.root / ".cuda").iterdir()], ["toolkit"])

        done = self.run_script("scripts/setup", "--cuda")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertEqual(len(self.called("pip")), 1)
        self.assertEqual(self.called("apt-get"), [])

    def test_other_versions_replace_the_toolkit(self):
        self.run_script("scripts/setup", "--cuda")
        (self.root / ".cuda/toolkit/old").write_text("")
        with (self.root / "cmake/cuda-wheels.txt").open("a") as wheels:
            wheels.write("# others\n")
        self.assertEqual(self.run_script("scripts/setup", "--cuda").returncode, 0)
        self.assertEqual(len(self.called("pip")), 2)
        self.assertFalse((self.root / ".cuda/toolkit/old").exists())

    def test_a_compiler_that_is_there_wins(self):
        done = self.run_script("scripts/setup", "--cuda", CUDACXX="/opt/cuda/bin/nvcc")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.program(self.path / "nvcc", NVCC)
        done = self.run_script("scripts/setup", "--cuda")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertEqual(self.called("pip"), [])
        self.assertFalse((self.root / ".cuda").exists())

    def test_what_cannot_be_fetched_or_does_not_compile_is_told_and_leaves_nothing(self):
        done = self.run_script("scripts/setup", "--cuda", PIP_FAILS="yes")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr.splitlines()[-1], "cannot be fetched: ERROR: No matching distribution found; try again, or install "
                                                       "CUDA toolkit 12 or later and put its nvcc on the PATH or into CUDACXX$")
        self.program(self.root.parent / "nvcc", "#!/bin/sh\necho 'error: unsupported GNU version' >&2\nexit 1\n")
        done = self.run_script("scripts/setup", "--cuda")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr.splitlines()[-1], "does not compile an empty kernel: error: unsupported GNU version")
        self.assertEqual(list((self.root / ".cuda").iterdir()), [])


class SlowTests(Folder):
    """scripts/test with steps that only tell that they were called."""

    def setUp(self):
        super().setUp()
        for name in ("scripts/check-includes", "scripts/prose", "scripts/demo", "scripts/format", "scripts/tidy"):
            self.program(self.root / name, "#!/bin/sh\n")
        self.program(self.root / "scripts/run-tests", "#!/bin/sh\necho \"tests $*\" >>\"$CALLS\"\necho '100% tests passed, 0 tests failed out of 7'\n")
        self.program(self.path / "cmake", '#!/bin/sh\necho "cmake $*" >>"$CALLS"\n')

    def test_the_gpu_step_fetches_the_compiler(self):
        done = self.run_script("scripts/test", "--slow")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertNotIn("left out", done.stdout)
        self.assertEqual(len(self.called("pip")), 1)
        self.assertEqual(len(self.called("cmake --preset cuda")), 1)
        self.assertEqual(self.called("tests cuda"), ["tests cuda -R ^test_gpu"])

    def test_without_a_compiler_the_gpu_step_is_left_out_by_name(self):
        for more, why in (({"PIP_FAILS": "yes"}, "the CUDA compiler cannot be fetched: ERROR: No matching distribution found; try again"),
                          ({"CUDACXX": "/no/nvcc"}, "CUDACXX is /no/nvcc, which cannot be run")):
            with self.subTest(why=why):
                done = self.run_script("scripts/test", "--slow", **more)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertIn("\ngpu                left out: GPU code is not compiled: ", done.stdout)
                self.assertIn(why, done.stdout)
                self.assertIn("\nleft out: gpu\n", done.stdout)
                self.assertEqual(self.called("cmake --preset cuda"), [])
                self.assertEqual(len(self.called("tests fuzz")), 1)
                self.calls.unlink()


class Configure(Folder):
    """cmake/cuda.cmake with a CMake project that only says which compiler it would take."""

    PROJECT = """cmake_minimum_required(VERSION 3.25)
project(probe LANGUAGES NONE)
function(check_language)
  message(STATUS "taken: ${CMAKE_CUDA_COMPILER}")
  unset(CMAKE_CUDA_COMPILER PARENT_SCOPE)
endfunction()
set(DELTAMATCH_GPU ON)
file(WRITE ${PROJECT_BINARY_DIR}/CheckLanguage.cmake "")
set(CMAKE_MODULE_PATH ${PROJECT_BINARY_DIR})
"""

    def taken(self, **more):
        (self.root / "CMakeLists.txt").write_text(self.PROJECT + (ROOT / "cmake/cuda.cmake").read_text().replace(
            "set(CMAKE_MESSAGE_LOG_LEVEL WARNING)", ""))
        done = self.run_cmake(**more)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return re.search(r"-- taken: ?(.*)", done.stdout).group(1)

    def run_cmake(self, **more):
        return subprocess.run(["cmake", "-S", self.root, "-B", self.root / "build"], capture_output=True, text=True, check=False,
                              env=self.environment(**more))

    def test_the_installed_compiler_is_found_unless_there_is_another(self):
        self.assertEqual(self.taken(), "")
        self.run_script("scripts/setup", "--cuda")
        self.assertEqual(self.taken(), str(self.root / ".cuda/toolkit/bin/nvcc"))
        self.assertEqual(self.taken(CUDACXX="/opt/cuda/bin/nvcc"), "")
        self.program(self.path / "nvcc", NVCC)
        self.assertEqual(self.taken(), "")


if __name__ == "__main__":
    unittest.main()
