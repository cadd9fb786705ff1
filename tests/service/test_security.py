"""A broker with TLS and passwords. Correct settings work and stay secret; wrong ones are reported with a remedy."""

import pathlib
import socket
import subprocess
import tempfile

from harness import Broker, edge, main, ServiceTest

USER, PASSWORD, WRONG = "deltamatch", "correct-horse-battery", "staple-of-another"
JAAS = "org.apache.kafka.common.security"


def openssl(folder, *arguments):
    subprocess.run(["openssl", *arguments], cwd=folder, capture_output=True, check=True)


def make_certificates(folder):
    """Makes server.pem with its key, for a broker at 127.0.0.1; ca.pem, which signed it; and other.pem, which did not."""
    for name in ("ca", "other"):
        openssl(folder, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}", "-keyout", f"{name}.key",
                "-out", f"{name}.pem")
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1\n")
    openssl(folder, "req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=broker", "-keyout", "server.key", "-out", "server.csr")
    openssl(folder, "x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
            "-extfile", "names", "-out", "server.crt")
    (folder / "server.pem").write_text((folder / "server.key").read_text() + (folder / "server.crt").read_text())


def free_port():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return held.getsockname()[1]


class Security(ServiceTest):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory(prefix="deltamatch-security-")
        cls.addClassCleanup(directory.cleanup)
        cls.folder = pathlib.Path(directory.name)
        make_certificates(cls.folder)
        cls.secured = Broker(cls.folder / "broker", secure_port=free_port(), **{
            "ssl_keystore_type": "PEM", "ssl_keystore_location": cls.folder / "server.pem", "sasl_enabled_mechanisms": "PLAIN,SCRAM-SHA-512",
            "listener_name_secure_plain_sasl_jaas_config": f'{JAAS}.plain.PlainLoginModule required user_{USER}="{PASSWORD}";',
            "listener_name_secure_scram-sha-512_sasl_jaas_config": f"{JAAS}.scram.ScramLoginModule required;"})
        cls.addClassCleanup(cls.secured.stop)
        cls.secured.tool("kafka.admin.ConfigCommand", "--alter", "--entity-type", "users", "--entity-name", USER,
                         "--add-config", f"SCRAM-SHA-512=[password={PASSWORD}]")

    def find_broker(self):
        return self.secured

    def secure(self, mechanism="SCRAM-SHA-512", password=PASSWORD, authority="ca.pem"):
        """A configuration that reaches the broker only through its secure listener."""
        (self.dir / "password").write_text(password + "\n")
        self.config(kafka={"bootstrap.servers": self.broker.secure_address, "security.protocol": "SASL_SSL", "sasl.mechanism": mechanism,
                           "sasl.username": USER, "sasl.password": {"file": str(self.dir / "password")},
                           "ssl.ca.location": str(self.folder / authority)})

    def works(self, **environment):
        # With all the log messages of librdkafka.
        self.config(kafka={**self.last_config["kafka"], "debug": "security,broker,protocol"}, log__level="trace")
        service = self.start(environment=environment)
        self.broker.produce(self.input, [edge(1, 2), edge(2, 3), edge(3, 1)])
        service.wait_committed({f"{self.input}[0]": 3})
        told = service.get("/status")[1] + service.get("/metrics")[1]
        self.assertEqual(service.stop(), 0)
        self.assertEqual(len(self.check_alerts()), 1)
        self.assertIn("SASL", service.log())
        self.assertNotIn(PASSWORD, told + service.log())

    def test_scram_with_the_password_in_a_file(self):
        self.broker.create(self.input)
        self.secure()
        self.works()

    def test_plain_with_the_password_in_the_environment(self):
        self.broker.create(self.input)
        self.secure("PLAIN")
        self.last_config["kafka"]["sasl.password"] = "${KAFKA_PASSWORD}"
        self.works(KAFKA_PASSWORD=PASSWORD)

    def waits_for(self, *words):
        """Checks that it says why it waits, in the log and in /readyz, and that it can be stopped."""
        service = self.start(ready=False)
        service.wait(lambda: all(word in service.get("/readyz")[1] for word in words), f"a word about {words}", 30)
        service.wait(lambda: any(all(word in event.get("why", "") for word in words) for event in service.events()),
                     "the reason in the log", 30)
        self.assertEqual(service.stop(), 0)
        for secret in (PASSWORD, WRONG):
            self.assertNotIn(secret, service.log())

    def test_a_wrong_password_is_told(self):
        for mechanism in ("PLAIN", "SCRAM-SHA-512"):
            with self.subTest(mechanism):
                self.secure(mechanism, password=WRONG)
                self.waits_for("uthentication failed", "check sasl.username, sasl.password and sasl.mechanism")

    def test_a_certificate_that_is_not_trusted_is_told(self):
        self.secure(authority="other.pem")
        self.waits_for("certificate verify failed", "check ssl.ca.location")

    def test_a_client_without_tls_is_told(self):
        self.config(kafka={"bootstrap.servers": self.broker.secure_address})
        self.waits_for("incorrect security.protocol", "check security.protocol")


if __name__ == "__main__":
    main()
