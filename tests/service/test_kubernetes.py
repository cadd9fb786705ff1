"""The manifests of config/kubernetes: judged by the schemas of Kubernetes, and what only deltamatch knows about them."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import wheels

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "config/kubernetes"
PROGRAM = os.environ.get("DELTAMATCH_PROGRAM", "")
VERSIONS = ("1.27", "1.30", "1.33")  # persistentVolumeClaimRetentionPolicy came with 1.27
wheels.use()
import yaml  # noqa: E402


def manifests():
    return {file.stem: yaml.safe_load(file.read_text()) for file in sorted(FOLDER.glob("*.yaml")) if file.stem != "kustomization"}


def seconds(text):
    number, unit = re.fullmatch(r"(\d+)(s|m|h)", text).groups()
    return int(number) * {"s": 1, "m": 60, "h": 3600}[unit]


class Kubernetes(unittest.TestCase):
    def setUp(self):
        self.manifests = manifests()
        self.set = self.manifests["statefulset"]["spec"]
        self.pod = self.set["template"]["spec"]
        self.container, = self.pod["containers"]
        self.configuration = yaml.safe_load(self.manifests["configmap"]["data"]["service.yaml"])

    def judge(self, version, *files):
        return subprocess.run([sys.executable, "-m", "kubernetes_validate", "--strict", "--kubernetes-version", version, *map(str, files)],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)

    def test_the_schemas_of_kubernetes_accept_them(self):
        files = [FOLDER / f"{name}.yaml" for name in self.manifests]
        for version in VERSIONS:
            done = self.judge(version, *files)
            self.assertEqual(done.returncode, 0, done.stdout)
            self.assertEqual(done.stdout.count(" passed "), len(files), done.stdout)

    def test_the_schemas_refuse_what_is_wrong(self):
        broken = self.manifests["statefulset"]
        broken["spec"]["template"]["spec"]["containers"][0]["livenesProbe"] = {}
        with tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory) / "broken.yaml"
            file.write_text(json.dumps(broken))
            self.assertNotEqual(self.judge("1.30", file).returncode, 0)

    def test_kustomize_takes_all_of_them(self):
        kustomization = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())
        self.assertEqual(sorted(kustomization["resources"]), sorted(f"{name}.yaml" for name in self.manifests))
        self.assertEqual(kustomization["images"][0]["name"], self.container["image"])

    def test_kustomize_builds_them(self):
        """With kustomize or kubectl, if there is one: each resource comes out, with the image of the kustomization, and is valid."""
        tool = next(([name, *more] for name, *more in (("kustomize", "build"), ("kubectl", "kustomize")) if shutil.which(name)), None)
        if tool is None:
            self.skipTest("needs kustomize or kubectl")
        with tempfile.TemporaryDirectory() as directory:
            copy = pathlib.Path(directory) / "second"  # another application, as the comment of kustomization.yaml says
            shutil.copytree(FOLDER, copy)
            (copy / "kustomization.yaml").write_text((FOLDER / "kustomization.yaml").read_text() + "nameSuffix: -second\n")
            for folder, name in ((FOLDER, "deltamatch"), (copy, "deltamatch-second")):
                done = subprocess.run([*tool, str(folder)], capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                built = {document["kind"]: document for document in yaml.safe_load_all(done.stdout)}
                self.assertEqual(sorted(built), sorted(manifest["kind"] for manifest in self.manifests.values()))
                self.assertEqual({document["metadata"]["name"] for document in built.values()}, {name})
                spec = built["StatefulSet"]["spec"]
                pod = spec["template"]["spec"]
                self.assertEqual(pod["containers"][0]["image"], "registry.example/deltamatch:0.1.0")
                self.assertEqual(spec["serviceName"], name)
                configurations = {volume["configMap"]["name"] for volume in pod["volumes"] if "configMap" in volume}
                self.assertEqual(configurations, {name})
                self.assertEqual(built["ConfigMap"]["data"], self.manifests["configmap"]["data"])
                files = [pathlib.Path(directory) / f"{kind}.yaml" for kind in built]
                for file, document in zip(files, built.values()):
                    file.write_text(json.dumps(document))
                judged = self.judge("1.30", *files)
                self.assertEqual(judged.returncode, 0, judged.stdout)

    def test_labels_and_names_fit(self):
        labels = {"app.kubernetes.io/name": "deltamatch", "app.kubernetes.io/instance": "payments"}
        for name, manifest in self.manifests.items():
            self.assertEqual(manifest["metadata"], {"name": "deltamatch", "labels": labels}, name)
        self.assertEqual(self.set["template"]["metadata"]["labels"], labels)
        for selector in (self.set["selector"]["matchLabels"], self.manifests["service"]["spec"]["selector"],
                         self.manifests["poddisruptionbudget"]["spec"]["selector"]["matchLabels"],
                         self.manifests["networkpolicy"]["spec"]["podSelector"]["matchLabels"]):
            self.assertEqual(selector, labels)
        self.assertEqual(self.set["serviceName"], self.manifests["service"]["metadata"]["name"])
        self.assertLess(self.manifests["poddisruptionbudget"]["spec"]["minAvailable"], self.set["replicas"])

    def test_the_program_accepts_the_configuration(self):
        with tempfile.TemporaryDirectory() as directory:
            for name, text in self.manifests["configmap"]["data"].items():
                (pathlib.Path(directory) / name).write_text(text)
            done = subprocess.run([PROGRAM, "validate", "--config", f"{directory}/service.yaml"], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, check=False, env={**os.environ, **self.secrets()})
            self.assertEqual(done.returncode, 0, done.stdout)
            # The lines about a password and a token, once they are no comments.
            text = self.manifests["configmap"]["data"]["service.yaml"]
            secure, count = re.subn(r"# (security\.|sasl\.|admin_token: )", r"\1", text)
            self.assertEqual(count, 5)
            (pathlib.Path(directory) / "service.yaml").write_text(secure)
            done = subprocess.run([PROGRAM, "validate", "--config", f"{directory}/service.yaml"], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, check=False, env={**os.environ, **self.secrets()})
            self.assertEqual(done.returncode, 0, done.stdout)

    def secrets(self):
        return self.manifests["secret"]["stringData"]

    def test_the_configuration_fits_the_pod(self):
        mounts = {mount["name"]: mount for mount in self.container["volumeMounts"]}
        self.assertEqual(self.configuration["state"]["directory"], mounts["state"]["mountPath"])
        self.assertEqual(self.container["args"][2], mounts["config"]["mountPath"] + "/service.yaml")
        self.assertTrue(mounts["config"]["readOnly"])
        port = int(self.configuration["http"]["listen"].split(":")[1])
        self.assertEqual(port, self.container["ports"][0]["containerPort"])
        self.assertEqual(self.set["template"]["metadata"]["annotations"]["prometheus.io/port"], str(port))
        self.assertGreaterEqual(self.pod["terminationGracePeriodSeconds"], seconds(self.configuration["shutdown_timeout"]) + 10)
        dockerfile = (ROOT / "config/Dockerfile").read_text()
        self.assertIn(f"USER {self.pod['securityContext']['runAsUser']}:{self.pod['securityContext']['runAsGroup']}\n", dockerfile)
        self.assertIn(f"VOLUME {mounts['state']['mountPath']} ", dockerfile)

    def test_a_standby_does_not_hold_an_update_up(self):
        """A standby answers 503 to /readyz, so no probe may ask for it."""
        for probe in ("livenessProbe", "readinessProbe"):
            self.assertEqual(self.container[probe]["httpGet"], {"path": "/livez", "port": "http"})

    def test_the_pod_has_no_right_that_it_does_not_need(self):
        self.assertTrue(self.pod["securityContext"]["runAsNonRoot"])
        self.assertFalse(self.pod["automountServiceAccountToken"])
        context = self.container["securityContext"]
        self.assertTrue(context["readOnlyRootFilesystem"])
        self.assertFalse(context["allowPrivilegeEscalation"])
        self.assertEqual(context["capabilities"], {"drop": ["ALL"]})


if __name__ == "__main__":
    unittest.main(verbosity=2)
