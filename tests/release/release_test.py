#!/usr/bin/env python3
"""What scripts/release puts beside the packages: the bill of materials of a build, recipes and checksums.

usage: release_test.py BUILD_FOLDER [unittest arguments]

Exit status 77, skipped, where the build is not Ninja's or the system is no Debian.
"""
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

import yaml

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]
VERSION = re.search(r"project\(roofline VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
# What only a binary with that library in it contains.
MARKERS = {b"cairo-font-face.c": "cairo", b"SQLite format 3": "sqlite", b"inflate 1.": "zlib",
           b"FONTCONFIG_FILE": "fontconfig", b"libpng version 1.": "libpng", b"HWLOC_XMLFILE": "hwloc",
           b"nlohmann": "nlohmann-json", b"yaml-cpp: error": "yaml-cpp", b"St9exception": "libstdc++"}
MARKERS_OF_COUNT = {b"Valgrind": "valgrind"}
ID = re.compile(r"^SPDXRef-[A-Za-z0-9.-]+$")


def sbom(*arguments, **options):
    return subprocess.run([ROOT / "scripts/sbom", *arguments], text=True, capture_output=True, **options)


class Bill(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.environment = dict(os.environ, SOURCE_DATE_EPOCH="1764270000")
        cls.text = sbom(BUILD, env=cls.environment, check=True).stdout
        cls.bill = json.loads(cls.text)

    def test_structure_is_that_of_spdx(self):
        bill = self.bill
        self.assertEqual((bill["spdxVersion"], bill["dataLicense"], bill["SPDXID"]),
                         ("SPDX-2.3", "CC0-1.0", "SPDXRef-DOCUMENT"))
        self.assertRegex(bill["documentNamespace"], r"^urn:uuid:[0-9a-f-]{36}$")
        self.assertEqual(bill["creationInfo"]["created"], "2025-11-27T19:00:00Z")
        self.assertTrue(all(re.match("(Tool|Organization|Person): ", one) for one in bill["creationInfo"]["creators"]))
        ids = [package["SPDXID"] for package in bill["packages"]]
        self.assertEqual(len(set(ids)), len(ids))
        licences = {one["licenseId"] for one in bill.get("hasExtractedLicensingInfos", [])}
        for package in bill["packages"]:
            self.assertRegex(package["SPDXID"], ID)
            for key in ("name", "downloadLocation", "licenseDeclared", "licenseConcluded", "copyrightText"):
                self.assertTrue(package[key], package)
            self.assertIs(package["filesAnalyzed"], False)
            self.assertLessEqual(set(re.findall(r"LicenseRef-[\w.-]+", package["licenseDeclared"])), licences)
            for checksum in package.get("checksums", []):
                self.assertRegex(checksum["checksumValue"], "^[0-9a-f]{64}$")
            for reference in package.get("externalRefs", []):
                self.assertRegex(reference["referenceLocator"], r"^pkg:deb/debian/[a-z0-9.+-]+@\S+$")
        for relation in bill["relationships"]:
            self.assertIn(relation["spdxElementId"], ids + ["SPDXRef-DOCUMENT"])
            self.assertIn(relation["relatedSpdxElement"], ids)
        related = {relation["relatedSpdxElement"] for relation in bill["relationships"]}
        self.assertEqual(related, set(ids))

    def test_every_dependency_has_version_licence_and_checksum(self):
        for package in self.bill["packages"][1:]:
            self.assertTrue(package["checksums"], package)
            if package["name"] != "cuda-runtime":
                self.assertTrue(package["versionInfo"], package)

    def test_checksums_are_those_of_the_files(self):
        # The archive, and the shared library where a library that is linked needs it.
        files = [path for name in ("libz.a", "libz.so.1") for path in pathlib.Path("/usr/lib").rglob(name)]
        sums = {hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
        packages = [one for one in self.bill["packages"] if one["name"] == "zlib"]
        self.assertTrue(packages)
        for package in packages:
            self.assertIn(package["checksums"][0]["checksumValue"], sums)

    def test_what_is_in_the_binaries_is_in_the_bill(self):
        names = {package["name"] for package in self.bill["packages"]}
        for binary, markers in ((BUILD / "roofline", MARKERS), (BUILD / "roofline_count", MARKERS_OF_COUNT)):
            if binary.exists():
                content = binary.read_bytes()
                found = {name for marker, name in markers.items() if marker in content}
                self.assertGreater(len(found), len(markers) // 2)
                self.assertLessEqual(found, names)
        needed = subprocess.run(["objdump", "-p", BUILD / "roofline"], check=True, text=True, capture_output=True).stdout
        for library in re.findall(r"NEEDED\s+(\S+)", needed):
            self.assertTrue(any(library in package.get("comment", "") for package in self.bill["packages"]), library)

    def test_it_is_the_same_every_time(self):
        self.assertEqual(sbom(BUILD, env=self.environment, check=True).stdout, self.text)

    def test_an_unknown_library_is_an_error(self):
        script = (ROOT / "scripts/sbom").read_text()
        row = re.search(r'^    \(.*"libdeflate", "MIT"\),\n', script, re.MULTILINE)[0]
        with tempfile.TemporaryDirectory() as name:
            place = pathlib.Path(name) / "scripts/sbom"
            place.parent.mkdir()
            place.write_text(script.replace(row, ""))
            shutil.copy(ROOT / "CMakeLists.txt", name)
            done = subprocess.run([sys.executable, place, BUILD], text=True, capture_output=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("libdeflate.a", done.stderr)


class PythonPackage(unittest.TestCase):
    def package(self, folder):
        """A Debian package from a wheel that a zip file stands for."""
        folder.mkdir()
        wheel = folder / f"roofline-{VERSION}-py3-none-any.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            for path in sorted((ROOT / "python/src/roofline").glob("*.py")):
                archive.write(path, f"roofline/{path.name}")
            for name in ("METADATA", "RECORD"):
                archive.writestr(f"roofline-{VERSION}.dist-info/{name}", "Name: roofline\n")
        environment = dict(os.environ, SOURCE_DATE_EPOCH="1700000000")
        subprocess.run([ROOT / "scripts/python-deb", wheel], check=True, env=environment)
        return folder / f"python3-roofline_{VERSION}_all.deb"

    @unittest.skipUnless(shutil.which("dpkg-deb"), "no dpkg-deb")
    def test_a_debian_package_that_is_imported_and_the_same_every_time(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            first, again = self.package(folder / "a"), self.package(folder / "b")
            self.assertEqual(first.read_bytes(), again.read_bytes())
            subprocess.run(["dpkg-deb", "-x", first, folder / "root"], check=True)
            place = folder / "root/usr/lib/python3/dist-packages"
            done = subprocess.run([sys.executable, "-c", "import roofline; print(roofline.__file__)"], text=True,
                                  capture_output=True, env=dict(os.environ, PYTHONPATH=str(place)))
            self.assertTrue(done.stdout.startswith(str(place)), done.stderr)
            self.assertFalse((place / f"roofline-{VERSION}.dist-info/RECORD").exists())


class ReleaseFiles(unittest.TestCase):
    def test_recipes_and_checksums(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            archive = folder / f"roofline-{VERSION}-linux-x86_64.tar.gz"
            archive.write_bytes(b"an archive")
            (folder / f"roofline_{VERSION}_amd64.deb").write_bytes(b"a package")
            subprocess.run([ROOT / "scripts/release-files", folder, "--url", "https://downloads.invalid/r/",
                            "--homepage", "https://home.invalid"], check=True)
            for recipe in ("Containerfile", "roofline.rb", "conda/meta.yaml"):
                text = (folder / "recipes" / recipe).read_text()
                self.assertNotRegex(text, r"@[A-Z_]+@|RELEASE_URL")
                self.assertIn(VERSION, text)
            digest = hashlib.sha256(b"an archive").hexdigest()
            conda = yaml.safe_load((folder / "recipes/conda/meta.yaml").read_text())
            self.assertEqual(conda["source"], {"url": f"https://downloads.invalid/r/{archive.name}", "sha256": digest})
            self.assertIn(f'sha256 "{digest}"', (folder / "recipes/roofline.rb").read_text())
            subprocess.run(["sha256sum", "--quiet", "-c", "SHA256SUMS"], cwd=folder, check=True)
            listed = {line.split("  ")[1] for line in (folder / "SHA256SUMS").read_text().splitlines()}
            files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
            self.assertEqual(listed, files - {"SHA256SUMS"})

    @unittest.skipUnless(shutil.which("gpg") and shutil.which("gpg-agent"), "no GnuPG")
    def test_checksums_are_signed_and_any_change_is_found(self):
        with tempfile.TemporaryDirectory() as name:
            home, folder = pathlib.Path(name) / "keys", pathlib.Path(name) / "packages"
            home.mkdir(mode=0o700)
            folder.mkdir()
            (folder / f"roofline-{VERSION}-linux-x86_64.tar.gz").write_bytes(b"an archive")

            def gpg(*arguments):
                return subprocess.run(["gpg", "--homedir", home, "--batch", *arguments], capture_output=True)

            made = gpg("--passphrase", "", "--quick-generate-key", "releases@example.invalid", "ed25519", "sign", "never")
            self.assertEqual(made.returncode, 0, made.stderr)
            try:
                for again in range(2):  # the signature of an earlier time is replaced
                    subprocess.run([ROOT / "scripts/release-files", folder, "--sign", "releases@example.invalid"],
                                   env=dict(os.environ, GNUPGHOME=str(home)), check=True)
                sums, signature = folder / "SHA256SUMS", folder / "SHA256SUMS.asc"
                self.assertNotIn("SHA256SUMS", sums.read_text())
                self.assertEqual(gpg("--verify", signature, sums).returncode, 0)
                sums.write_text(sums.read_text().replace("0", "1", 1))
                self.assertNotEqual(gpg("--verify", signature, sums).returncode, 0)
            finally:
                subprocess.run(["gpgconf", "--homedir", home, "--kill", "all"], check=False)

    def test_a_folder_without_packages_is_refused(self):
        with tempfile.TemporaryDirectory() as name:
            done = subprocess.run([ROOT / "scripts/release-files", name], text=True, capture_output=True)
            self.assertEqual(done.returncode, 1)


if __name__ == "__main__":
    if not (BUILD / "build.ninja").exists() or not shutil.which("dpkg-query"):
        print("release files not tested: no Ninja build, or no Debian")
        sys.exit(77)
    unittest.main()
