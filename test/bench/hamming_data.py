# hamming_data.py: fingerprints of real things from packages, for hamming.c and hamming.py.
#
#   python3 hamming_data.py FOLDER ROWS
#
# Fetches pictures (Debian's openclipart-png and oxygen-icon-theme) and molecules (a part of ZINC in molsets), and writes
# FOLDER/NAME-BITS.rows and .queries, bits in the order of bytes, padded to words of 64:
#
#   pictures   64 and 256 bits: pHash (ImageHash); there are 16,000
#   orb        256 bits: the descriptors of these pictures' corners (OpenCV)
#   molecules  881 bits: PubChem's fingerprint (scikit-fingerprints)
import gzip
import pathlib
import random
import subprocess
import sys
import zipfile

import cv2
import imagehash
import numpy
from PIL import Image
from skfp.fingerprints import PubChemFingerprint

QUERIES = 50
WIDEST = 2000
Image.MAX_IMAGE_PIXELS = None  # wide ones are left out by their headers
PICTURES = ("openclipart-png", "oxygen-icon-theme")
MOLECULES = "molsets==0.3.1"
FOLDER, ROWS = pathlib.Path(sys.argv[1]), int(sys.argv[2])


# Queries are rows drawn at random, which are left out.
def write(name, bits, codes):
    codes = numpy.unpackbits(numpy.asarray(codes, dtype=numpy.uint8), axis=1)[:, :bits]
    codes = numpy.packbits(numpy.pad(codes, ((0, 0), (0, -bits % 64))), axis=1)
    drawn = numpy.random.default_rng(1).permutation(len(codes))[: ROWS + QUERIES]
    codes[drawn[:QUERIES]].tofile(FOLDER / f"{name}-{bits}.queries")
    codes[drawn[QUERIES:]].tofile(FOLDER / f"{name}-{bits}.rows")


def fetch(*command):
    subprocess.run(command, cwd=FOLDER, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


# Yields pictures as arrays, on white.
def pictures():
    fetch("apt-get", "download", *PICTURES)
    for package in FOLDER.glob("*.deb"):
        fetch("dpkg", "-x", package.name, "pictures")
    for path in sorted((FOLDER / "pictures").rglob("*.png")):
        if path.is_symlink() or Image.open(path).width > WIDEST:
            continue
        picture = Image.open(path).convert("RGBA")
        yield Image.alpha_composite(Image.new("RGBA", picture.size, "white"), picture).convert("L")


def write_pictures():
    hashes, corners = {8: [], 16: []}, []
    orb = cv2.ORB_create(nfeatures=30)
    for picture in pictures():
        for size, codes in hashes.items():
            codes.append(numpy.packbits(imagehash.phash(picture, hash_size=size).hash))
        _, found = orb.detectAndCompute(numpy.asarray(picture), None)
        corners.extend([] if found is None else found)
    for size, codes in hashes.items():
        write("pictures", size * size, codes)
    write("orb", 256, corners)


def write_molecules():
    fetch(sys.executable, "-m", "pip", "download", "-q", "--no-deps", MOLECULES)
    with zipfile.ZipFile(next(FOLDER.glob("molsets*.whl"))) as wheel:
        lines = gzip.decompress(wheel.read("moses/dataset/data/train.csv.gz")).decode().split()
    drawn = random.Random(1).sample([line.split(",")[0] for line in lines[1:]], ROWS + QUERIES)
    write("molecules", 881, numpy.packbits(PubChemFingerprint().transform(drawn), axis=1))


write_pictures()
write_molecules()
