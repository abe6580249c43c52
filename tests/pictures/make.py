#!/usr/bin/env python3
"""Makes the pictures of this folder, and what ImageMagick makes of them. Needs `convert`, `cwebp`, `webpmux`; see README.md."""

import os
import struct
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(HERE, "sources")
EXPECTED = os.path.join(HERE, "expected")
CORPUS = os.path.join(HERE, "..", "fuzz", "corpus", "pictures")
WORK = os.path.join(HERE, "work")


def run(*command):
    subprocess.run(command, check=True)


def convert(*arguments):
    run("convert", *arguments)


def source(name):
    return os.path.join(SOURCES, name)


def work(name):
    return os.path.join(WORK, name)


def scene(name, width, height, seed):
    """A soft picture with edges, colours and something to read: what photographs are made of, in few bytes."""
    w, h = width, height
    convert(
        "-size", f"{w}x{h}", "-seed", str(seed), "plasma:steelblue-orange", "-blur", f"0x{max(w, h) / 60}",
        "-fill", "#d02030", "-draw", f"circle {w * 3 // 10},{h * 4 // 10} {w * 4 // 10},{h * 5 // 10}",
        "-fill", "#20b050", "-draw", f"rectangle {w * 6 // 10},{h // 10} {w * 9 // 10},{h * 4 // 10}",
        "-fill", "white", "-stroke", "black", "-strokewidth", str(max(1, w // 200)),
        "-draw", f"polygon {w // 2},{h // 2} {w * 8 // 10},{h * 9 // 10} {w // 5},{h * 8 // 10}",
        "-depth", "8", "+set", "date:create", "+set", "date:modify", work(name),
    )


def see_through(name, of):
    """The same, fading out from left to right, with a hole."""
    convert(
        work(of), "(", "-size", "220x300", "gradient:white-black", "-rotate", "90", "-fill", "black",
        "-draw", "circle 60,60 60,90", ")", "-alpha", "off", "-compose", "CopyOpacity", "-composite", work(name),
    )


def exif(orientation):
    """A TIFF header with one entry: big-endian for odd ones, little-endian for even ones."""
    order, sign = (b"MM", ">") if orientation % 2 else (b"II", "<")
    entry = struct.pack(sign + "HHIHH", 0x0112, 3, 1, orientation, 0)
    return order + struct.pack(sign + "HIH", 42, 8, 1) + entry + struct.pack(sign + "I", 0)


def turned_jpeg(name, of, orientation):
    data = open(of, "rb").read()
    content = b"Exif\0\0" + exif(orientation)
    segment = b"\xff\xe1" + struct.pack(">H", len(content) + 2) + content
    open(source(name), "wb").write(data[:2] + segment + data[2:])


def offset_gif(name):
    """One frame that covers a part of its screen only."""
    convert("-size", "200x150", "xc:none", "-page", "+40+30", work("small.png"), "-background", "none",
            "-layers", "merge", work("placed.png"))
    convert("-page", "200x150+40+30", work("small.png"), source(name))


def small_bmp16(name):
    """16 bits a pixel, 5-6-5, bottom row first."""
    w, h = 120, 90
    raw = subprocess.run(["convert", work("photo.png"), "-resize", f"{w}x{h}!", "-depth", "8", "rgb:-"],
                         check=True, capture_output=True).stdout
    rows = []
    for y in reversed(range(h)):
        row = b""
        for x in range(w):
            r, g, b = raw[(y * w + x) * 3:(y * w + x) * 3 + 3]
            row += struct.pack("<H", (r >> 3) << 11 | (g >> 2) << 5 | b >> 3)
        rows.append(row + b"\0" * (-len(row) % 4))
    pixels = b"".join(rows)
    masks = struct.pack("<III", 0xF800, 0x07E0, 0x001F)
    info = struct.pack("<IiiHHIIiiII", 40, w, h, 1, 16, 3, len(pixels), 2835, 2835, 0, 0)
    start = 14 + len(info) + len(masks)
    head = b"BM" + struct.pack("<IHHI", start + len(pixels), 0, 0, start)
    open(source(name), "wb").write(head + info + masks + pixels)


def make_sources():
    scene("photo.png", 300, 220, 7)
    scene("large.png", 2400, 1800, 8)
    scene("small.png", 90, 60, 9)
    see_through("clear.png", "photo.png")
    photo, large, clear, small = work("photo.png"), work("large.png"), work("clear.png"), work("small.png")

    convert(photo, "-quality", "85", work("photo.jpg"))
    for orientation in range(1, 9):
        turned_jpeg(f"turned-{orientation}.jpg", work("photo.jpg"), orientation)
    turned_jpeg("turned-9.jpg", work("photo.jpg"), 9)
    convert(photo, "-interlace", "JPEG", "-quality", "85", source("progressive.jpg"))
    convert(photo, "-colorspace", "Gray", "-quality", "85", source("grey.jpg"))
    convert(photo, "-colorspace", "CMYK", "-quality", "90", source("cmyk.jpg"))
    convert(photo, "-colorspace", "CMYK", "-interlace", "JPEG", "-quality", "90", source("cmyk-progressive.jpg"))
    for name, factors in [("444", "4:4:4"), ("422", "4:2:2"), ("440", "1x2"), ("411", "4:1:1")]:
        convert(photo, "-sampling-factor", factors, "-quality", "85", source(f"sampled-{name}.jpg"))
    convert(large, "-quality", "60", source("large.jpg"))
    turned_jpeg("large-turned.jpg", source("large.jpg"), 6)
    convert(large, "-resize", "2700x2025!", "-interlace", "JPEG", "-quality", "50", source("large-progressive.jpg"))
    convert(large, "-resize", "10401x1810!", "-quality", "40", source("wide.jpg"))
    convert(large, "-resize", "1023x1025!", "-quality", "60", source("odd.jpg"))
    convert(photo, "-resize", "1x1!", source("pixel.jpg"))

    convert(photo, "-define", "png:color-type=2", source("rgb.png"))
    convert(clear, "-define", "png:color-type=6", source("rgba.png"))
    wide = ["-depth", "16", "-evaluate", "multiply", "0.93", "-define", "png:bit-depth=16"]
    convert(photo, "-resize", "150x110!", *wide, "-define", "png:color-type=2", source("rgb16.png"))
    convert(clear, "-resize", "150x110!", "-depth", "16", "-define", "png:bit-depth=16", "-define", "png:color-type=6",
            source("rgba16.png"))
    convert(photo, "-colorspace", "Gray", "-define", "png:color-type=0", source("grey.png"))
    convert(photo, "-resize", "150x110!", "-colorspace", "Gray", *wide, "-define", "png:color-type=0", source("grey16.png"))
    convert(photo, "-colorspace", "Gray", "-ordered-dither", "o8x8,4", "-define", "png:color-type=0", "-define",
            "png:bit-depth=2", source("grey2.png"))
    convert(photo, "-threshold", "50%", "-define", "png:color-type=0", "-define", "png:bit-depth=1", source("grey1.png"))
    convert(clear, "-colorspace", "Gray", "-define", "png:color-type=4", source("grey-alpha.png"))
    convert(photo, "+dither", "-colors", "200", "-define", "png:color-type=3", source("palette.png"))
    convert(photo, "+dither", "-colors", "15", "-strip", source("palette4.png"))
    convert(clear, "-resize", "100x75!", "-colors", "60", "PNG8:" + source("palette-alpha.png"))
    convert(clear, "-interlace", "PNG", "-define", "png:color-type=6", source("interlaced.png"))
    convert("-size", "3300x4700", "gradient:navy-gold", "-depth", "8", source("large.png"))
    convert("-size", "4700x300", "xc:none", "-fill", "#3070c0", "-draw", "ellipse 2350,150 2200,140 0,360", "+dither", "-colors", "32", "-depth", "8",
            "-define", "png:color-type=6", source("wide-alpha.png"))

    convert(photo, "+dither", "-colors", "128", source("still.gif"))
    convert(photo, "+dither", "-colors", "64", "-interlace", "GIF", source("interlaced.gif"))
    convert(clear, "-channel", "A", "-threshold", "50%", "+channel", "-colors", "64", source("clear.gif"))
    convert("-delay", "20", photo, "(", photo, "-negate", ")", "(", photo, "-flop", ")", "-resize", "160x120!", "+dither", "-colors", "48",
            "-loop", "0", source("animated.gif"))
    offset_gif("offset.gif")

    run("cwebp", "-quiet", "-q", "85", photo, "-o", source("lossy.webp"))
    run("cwebp", "-quiet", "-lossless", small, "-o", source("lossless.webp"))
    run("cwebp", "-quiet", "-q", "85", "-alpha_q", "100", "-exact", clear, "-o", source("lossy-alpha.webp"))
    convert(clear, "-resize", "120x88!", work("clear-small.png"))
    run("cwebp", "-quiet", "-lossless", work("clear-small.png"), "-o", source("lossless-alpha.webp"))
    run("cwebp", "-quiet", "-q", "70", large, "-o", source("large.webp"))
    open(work("exif"), "wb").write(exif(8))
    run("webpmux", "-set", "exif", work("exif"), source("lossy.webp"), "-o", source("turned.webp"))
    convert(photo, "-negate", work("negative.png"))
    run("cwebp", "-quiet", "-q", "80", work("negative.png"), "-o", work("negative.webp"))
    run("webpmux", "-frame", source("lossy.webp"), "+100", "-frame", work("negative.webp"), "+100", "-o",
        source("animated.webp"))

    convert(small, "-type", "TrueColor", "BMP3:" + source("bits24.bmp"))
    convert(work("clear-small.png"), "BMP:" + source("bits32.bmp"))
    convert(photo, "-resize", "151x110!", "+dither", "-colors", "200", "-compress", "RLE", "BMP3:" + source("rle8.bmp"))
    convert(small, "+dither", "-colors", "100", "-compress", "None", "BMP3:" + source("bits8.bmp"))
    convert(small, "+dither", "-colors", "12", "-compress", "None", "BMP3:" + source("bits4.bmp"))
    convert(photo, "-threshold", "50%", "-type", "bilevel", "BMP3:" + source("bits1.bmp"))
    small_bmp16("bits16.bmp")


def make_expected():
    for name in sorted(os.listdir(SOURCES)):
        large = os.path.getsize(source(name)) > 0 and name.startswith(("large", "wide", "odd"))
        for size in [1024] if name == "wide-alpha.png" else [128, 512] if name == "large.jpg" else [256 if large else 128]:
            # ImageMagick sees no orientation in WebP, and takes a frame for the picture.
            first = {"offset.gif": ["-alpha", "set", "-background", "none", "-coalesce"], "turned.webp": ["-orient", "LeftBottom"]}.get(name, [])
            convert(source(name) + "[0]", *first, "-auto-orient",
                    "-thumbnail", f"{size}x{size}>", "-colorspace", "sRGB", "-depth", "8", "-strip",
                    "PNG32:" + os.path.join(EXPECTED, f"{name}.{size}.png"))


def make_corpus():
    """Pictures of a few pixels, of all kinds: what fuzzing changes at random. One that failed once is kept beside them."""
    scene("photo.png", 19, 13, 7)
    scene("large.png", 160, 120, 8)
    photo = work("photo.png")
    see_through("clear.png", "photo.png")
    clear = work("clear.png")

    def to(name):
        return os.path.join(CORPUS, name)

    convert(photo, "-quality", "60", to("plain.jpg"))
    convert(photo, "-interlace", "JPEG", "-quality", "60", to("progressive.jpg"))
    convert(photo, "-colorspace", "Gray", "-quality", "60", to("grey.jpg"))
    convert(photo, "-colorspace", "CMYK", "-quality", "60", to("cmyk.jpg"))
    convert(photo, "-colorspace", "CMYK", "-interlace", "JPEG", "-quality", "60", to("cmyk-progressive.jpg"))
    convert(photo, "-sampling-factor", "4:1:1", "-quality", "60", to("sampled.jpg"))
    data = open(to("plain.jpg"), "rb").read()
    content = b"Exif\0\0" + exif(7)
    open(to("turned.jpg"), "wb").write(data[:2] + b"\xff\xe1" + struct.pack(">H", len(content) + 2) + content + data[2:])
    for name, options in [
        ("rgb", ["-define", "png:color-type=2"]), ("rgb16", ["-depth", "16", "-evaluate", "multiply", "0.9", "-define", "png:color-type=2"]),
        ("grey1", ["-threshold", "50%", "-define", "png:color-type=0", "-define", "png:bit-depth=1"]),
        ("palette", ["+dither", "-colors", "9"]), ("interlaced", ["-interlace", "PNG"]),
    ]:
        convert(photo, *options, "-strip", to(f"{name}.png"))
    convert(clear, "-strip", "-define", "png:color-type=6", to("rgba.png"))
    convert(clear, "-strip", "-colorspace", "Gray", "-define", "png:color-type=4", to("grey-alpha.png"))
    convert(photo, "+dither", "-colors", "12", to("still.gif"))
    convert(photo, "+dither", "-colors", "12", "-interlace", "GIF", to("interlaced.gif"))
    convert(clear, "-channel", "A", "-threshold", "50%", "+channel", "+dither", "-colors", "6", to("clear.gif"))
    convert("-delay", "20", photo, "(", photo, "-negate", ")", "+dither", "-colors", "5", "-loop", "0", to("animated.gif"))
    run("cwebp", "-quiet", "-q", "50", photo, "-o", to("lossy.webp"))
    run("cwebp", "-quiet", "-lossless", photo, "-o", to("lossless.webp"))
    run("cwebp", "-quiet", "-q", "50", clear, "-o", to("lossy-alpha.webp"))
    run("cwebp", "-quiet", "-lossless", clear, "-o", to("lossless-alpha.webp"))
    run("cwebp", "-quiet", "-q", "10", work("large.png"), "-o", to("larger.webp"))
    run("webpmux", "-frame", to("lossy.webp"), "+100", "-frame", to("lossless.webp"), "+100", "-o", to("animated.webp"))
    for bits, colors in [(24, None), (8, "60"), (4, "9"), (1, "2")]:
        reduce = ["-type", "TrueColor"] if colors is None else ["+dither", "-colors", colors, "-compress", "None"]
        convert(photo, *reduce, "BMP3:" + to(f"bits{bits}.bmp"))
    convert(clear, "BMP:" + to("bits32.bmp"))
    convert(photo, "+dither", "-colors", "30", "-compress", "RLE", "BMP3:" + to("rle8.bmp"))


if __name__ == "__main__":
    for folder in (SOURCES, EXPECTED, CORPUS, WORK):
        os.makedirs(folder, exist_ok=True)
    make_sources()
    make_expected()
    make_corpus()
    for name in os.listdir(WORK):
        os.unlink(os.path.join(WORK, name))
    os.rmdir(WORK)
