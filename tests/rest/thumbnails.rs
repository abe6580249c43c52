//! Small pictures of large ones.

use ledge_tests::pictures::{self, MOST_DIFFERENCE};
use ledge_tests::{Drive, Reply};
use serde_json::{Value, json};

fn request(drive: &Drive, method: &str, path: &str) -> reqwest::blocking::RequestBuilder {
    Drive::in_space(method, &drive.below("thumbnail", path))
}

fn get(drive: &Drive, path: &str) -> Reply {
    Reply::to(request(drive, "GET", path))
}

fn save(drive: &Drive, name: &str, media_type: &str, file: Vec<u8>) -> Reply {
    Reply::to(drive.request("PUT", name).header("content-type", media_type).body(file))
}

/// The thumbnail, or the refusal, once the job is over.
fn made(drive: &Drive, path: &str) -> Reply {
    Drive::wait_for("the thumbnail is made", || Some(get(drive, path)).filter(|reply| reply.status != 202))
}

#[test]
fn thumbnails_are_those_that_imagemagick_makes() {
    let drive = Drive::new();
    let cases = pictures::all();
    assert!(cases.len() >= 50, "{} pictures", cases.len());
    for case in &cases {
        assert_eq!(save(&drive, &case.name, case.media_type, case.file.clone()).status, 201);
        let asked = get(&drive, &format!("{}?size=128", case.name));
        assert_eq!(asked.status, 202, "{}", String::from_utf8_lossy(&asked.body));
    }
    let mut wrong = Vec::new();
    for case in &cases {
        for (size, expected) in &case.expected {
            let what = format!("{} {size}", case.name);
            let reply = made(&drive, &format!("{}?size={size}", case.name));
            if reply.status != 200 {
                wrong.push(format!("{what}: {}", String::from_utf8_lossy(&reply.body)));
                continue;
            }
            let pixels = pictures::decode(reply.header("content-type"), &reply.body);
            if (pixels.width, pixels.height) != (expected.width, expected.height) {
                wrong.push(format!("{what}: {} × {}", pixels.width, pixels.height));
                continue;
            }
            let difference = pixels.difference(expected);
            if difference.iter().any(|channel| *channel > MOST_DIFFERENCE) {
                wrong.push(format!("{what}: {difference:.2?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_first_request_is_answered_with_a_job_and_the_next_with_the_same_one() {
    let drive = Drive::new();
    save(&drive, "a.jpg", "image/jpeg", pictures::file("turned-3.jpg"));
    let first = get(&drive, "a.jpg?size=256");
    assert_eq!((first.status, first.cost()), (202, (2, 0)));
    assert_eq!(first.header("cache-control"), "no-store");
    assert!(first.header("retry-after").parse::<u32>().unwrap() >= 1);
    let job = first.json();
    assert_eq!((&job["kind"], &job["lane"]), (&json!("thumbnails"), &json!("thumbnails")));
    let watch = first.header("location").to_owned();
    assert_eq!(watch, format!("/api/v1/jobs/{}", job["id"].as_str().unwrap()));
    let second = get(&drive, "a.jpg?size=1024");
    assert!([200, 202].contains(&second.status));
    if second.status == 202 {
        assert_eq!((&second.json()["id"], second.cost()), (&job["id"], (1, 0)));
    }
    let done = Drive::wait_for("the job is done", || {
        Some(Reply::to(Drive::signed("GET", &Drive::absolute(&watch))).json())
            .filter(|job| job["state"] == "done")
    });
    assert_eq!(done["progress"]["items_done"], 3, "256 and larger are as large as the picture or smaller");
    assert_eq!(done["error"], Value::Null);

    let thumbnail = get(&drive, "a.jpg?size=256");
    assert_eq!((thumbnail.status, thumbnail.cost()), (200, (1, 1)));
    assert_eq!(thumbnail.header("content-type"), "image/jpeg");
    assert_eq!(thumbnail.header("x-content-type-options"), "nosniff");
    assert_eq!(thumbnail.header("content-security-policy"), "sandbox");
    assert_eq!(thumbnail.header("content-length"), thumbnail.body.len().to_string());
    assert_eq!(thumbnail.header("cache-control"), "private, max-age=300, no-transform");
    let etag = thumbnail.header("etag").to_owned();

    let head = Reply::to(request(&drive, "HEAD", "a.jpg?size=256"));
    assert_eq!((head.status, head.cost(), head.body.len()), (200, (1, 0), 0));
    for header in ["content-type", "content-length", "etag", "cache-control"] {
        assert_eq!(head.header(header), thumbnail.header(header), "{header}");
    }
    let unchanged = Reply::to(request(&drive, "GET", "a.jpg?size=256").header("if-none-match", &etag));
    assert_eq!((unchanged.status, unchanged.header("etag"), unchanged.cost()), (304, etag.as_str(), (1, 0)));
    assert_eq!(unchanged.header("cache-control"), "private, max-age=300, no-transform");
    let other = Reply::to(request(&drive, "GET", "a.jpg?size=128").header("if-none-match", &etag));
    assert_eq!(other.status, 200, "another size is another picture");
    let changed = Reply::to(request(&drive, "GET", "a.jpg?size=256").header("if-match", "\"other\""));
    changed.expect_problem(412, "precondition_failed");
}

#[test]
fn a_copy_and_what_was_moved_have_the_thumbnails_at_once() {
    let drive = Drive::new();
    save(&drive, "a.png", "image/png", pictures::file("rgba.png"));
    let original = made(&drive, "a.png?size=128");
    assert_eq!((original.status, original.header("content-type")), (200, "image/webp"));
    let batch = json!([
        { "op": "copy", "path": drive.path("a.png"), "to": { "name": "b" } },
        { "op": "move", "path": drive.path("a.png"), "to": { "name": "c.png" } },
    ]);
    assert_eq!(Drive::batch(&batch).status, 200);
    for name in ["b", "c.png"] {
        let same = get(&drive, &format!("{name}?size=128"));
        assert_eq!((same.status, same.header("etag")), (200, original.header("etag")), "{name}");
    }
    get(&drive, "a.png?size=128").expect_problem(404, "not_found");
}

#[test]
fn an_older_version_has_its_own_and_they_may_be_kept_for_ever() {
    let drive = Drive::new();
    save(&drive, "a.jpg", "image/jpeg", pictures::file("turned-1.jpg"));
    let old = drive.versions("a.jpg")[0]["id"].as_str().unwrap().to_owned();
    save(&drive, "a.jpg", "image/jpeg", pictures::file("grey.jpg"));
    let new = made(&drive, "a.jpg?size=128");
    let versioned = made(&drive, &format!("a.jpg?size=128&version={old}"));
    assert_eq!((new.status, versioned.status), (200, 200));
    assert_ne!(new.header("etag"), versioned.header("etag"));
    assert_eq!(versioned.header("cache-control"), "private, max-age=31536000, immutable, no-transform");
    let at = made(&drive, "a.jpg?size=128&at=9999-01-01T00:00:00Z");
    assert_eq!(at.header("etag"), new.header("etag"));
}

#[test]
fn what_is_asked_for_must_be_a_file_and_a_size_that_there_is() {
    let drive = Drive::new();
    save(&drive, "a.jpg", "image/jpeg", pictures::file("pixel.jpg"));
    drive.make_folder("folder");
    for query in ["", "?size=", "?size=127", "?size=0", "?size=-128", "?size=128.0", "?size=128&size=256"] {
        get(&drive, &format!("a.jpg{query}")).expect_problem(400, "invalid");
    }
    get(&drive, "a.jpg?size=128&other=1").expect_problem(400, "invalid");
    get(&drive, "a.jpg?size=128&version=x").expect_problem(400, "invalid");
    get(&drive, "none.jpg?size=128").expect_problem(404, "not_found");
    get(&drive, "folder?size=128").expect_problem(409, "is_a_folder");
    for method in ["PUT", "POST", "DELETE"] {
        assert_eq!(Reply::to(request(&drive, method, "a.jpg?size=128")).status, 405);
    }
}

#[test]
fn who_may_not_read_the_file_may_not_see_it_small() {
    let drive = Drive::new();
    let folder = drive.make_folder("in").json()["id"].clone();
    for name in ["in/a.jpg", "beside.jpg"] {
        save(&drive, name, "image/jpeg", pictures::file("turned-2.jpg"));
        assert_eq!(made(&drive, &format!("{name}?size=128")).status, 200);
    }
    let url = |path: &str| {
        Drive::absolute(&format!("/api/v1/spaces/{}/{}", Drive::space(), drive.below("thumbnail", path)))
    };
    let limits = json!({ "name": "in", "space_id": Drive::space(), "folder_id": folder, "rights": "read" });
    let token = Reply::to(Drive::signed("POST", &Drive::absolute("/api/v1/tokens")).body(limits.to_string()));
    let token = token.json()["token"].as_str().unwrap().to_owned();
    let as_token = |path: &str| Reply::to(Drive::anonymous("GET", &url(path)).bearer_auth(&token));
    assert_eq!(as_token("in/a.jpg?size=128").status, 200);
    // What is there and what isn't look alike.
    let [there, missing] = ["beside.jpg?size=128", "none.jpg?size=128"].map(as_token);
    there.expect_problem(404, "not_found");
    assert_eq!(there.body, missing.body);
    Reply::to(Drive::anonymous("GET", &url("in/a.jpg?size=128"))).expect_problem(401, "unauthenticated");
    // Reading is enough to have one made.
    save(&drive, "in/b.jpg", "image/jpeg", pictures::file("turned-4.jpg"));
    assert_eq!(as_token("in/b.jpg?size=128").status, 202);
    assert_eq!(made(&drive, "in/b.jpg?size=128").status, 200);
}

/// A PNG that says it has so many pixels, and has none; with the right checksum.
fn empty_png(width: u32, height: u32, interlaced: bool) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(png::ColorType::Rgba);
    drop(encoder.write_header().unwrap());
    file[28] = u8::from(interlaced);
    let mut crc = flate2::Crc::new();
    crc.update(&file[12..29]);
    file[29..33].copy_from_slice(&crc.sum().to_be_bytes());
    file
}

/// The file with its width and height replaced by others at a place.
fn lying(name: &str, place: usize, size: &[u8]) -> Vec<u8> {
    let mut file = pictures::file(name);
    file[place..place + size.len()].copy_from_slice(size);
    file
}

#[test]
fn bombs_lies_and_what_is_no_picture_are_refused_with_a_reason_and_no_second_attempt() {
    let drive = Drive::new();
    let cut = |name: &str| {
        let file = pictures::file(name);
        let half = file.len() / 2;
        file[..half].to_vec()
    };
    let frame = |file: &[u8], marker: u8| file.windows(2).position(|two| two == [0xff, marker]).unwrap() + 5;
    let (plain, progressive) = (pictures::file("turned-1.jpg"), pictures::file("progressive.jpg"));
    let mut wide = plain.clone();
    let place = frame(&wide, 0xc0);
    wide[place..place + 4].copy_from_slice(&[0xff; 4]);
    let mut deep = progressive.clone();
    let place = frame(&deep, 0xc2);
    deep[place..place + 4].copy_from_slice(&[0x40, 0, 0x40, 0]);
    let mut scans = progressive;
    scans.truncate(scans.len() - 2);
    for _ in 0..200 {
        scans.extend([0xff, 0xda, 0, 8, 1, 1, 0, 1, 63, 0]);
    }
    let refused = [
        ("text.jpg", b"no picture at all".to_vec(), "this is no JPEG, PNG, GIF, WebP or BMP picture"),
        ("zip.png", b"PK\x03\x04 and so on".to_vec(), "this is no JPEG"),
        ("script.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>".to_vec(), "this is no JPEG"),
        ("cut.jpg", cut("turned-1.jpg"), "this JPEG file is damaged"),
        ("cut-progressive.jpg", cut("progressive.jpg"), "this JPEG file is damaged"),
        ("cut.png", cut("rgba.png"), "this PNG file is damaged"),
        ("cut-interlaced.png", cut("interlaced.png"), "this PNG file is damaged"),
        ("cut.gif", cut("still.gif"), "this GIF file is damaged"),
        ("cut.webp", cut("lossy.webp"), "this WebP file is damaged"),
        ("cut-lossless.webp", cut("lossless.webp"), "this WebP file is damaged"),
        ("cut.bmp", cut("bits24.bmp"), "this BMP file is damaged"),
        ("header.jpg", b"\xff\xd8\xff".to_vec(), "this JPEG file is damaged"),
        ("header.bmp", b"BM".to_vec(), "this BMP file is damaged"),
        ("wide.jpg", wide, "65535 × 65535 pixels takes"),
        ("deep.jpg", deep, "16384 × 16384 pixels takes"),
        ("scans.jpg", scans, "scans, and 100 is the limit"),
        ("large.png", empty_png(1 << 30, 1 << 30, false), "1073741824 × 1073741824 pixels takes"),
        ("square.png", empty_png(20_000, 20_000, false), "400000000 pixels, and 120000000 is the limit"),
        ("long.png", empty_png(90_000_000, 1, false), "90000000 × 1 pixels takes"),
        ("interlaced.png", empty_png(9000, 9000, true), "9000 × 9000 pixels takes"),
        ("none.png", empty_png(500, 500, false), "this PNG file is damaged"),
        ("large.gif", lying("offset.gif", 6, &[0xff; 4]), "4294836225 pixels, and 120000000 is the limit"),
        ("large.webp", lying("lossy.webp", 26, &[0xff, 0x3f, 0xff, 0x3f]), "16383 × 16383 pixels takes"),
        // Its bytes can still be counted in 32 bits.
        (
            "large.bmp",
            lying("bits24.bmp", 18, &[0x10, 0x27, 0, 0, 0x10, 0x27, 0, 0]),
            "10000 × 10000 pixels takes",
        ),
        ("frame.webp", larger_frame(), "a frame is larger than the picture"),
    ];
    for (name, file, _) in &refused {
        assert_eq!(save(&drive, name, "image/jpeg", file.clone()).status, 201);
        assert_eq!(get(&drive, &format!("{name}?size=128")).status, 202, "{name}");
    }
    for (name, _, why) in refused {
        let path = format!("{name}?size=512");
        let reply = made(&drive, &path);
        assert_eq!(reply.status, 422, "{name}");
        reply.expect_problem(422, "no_thumbnail");
        let detail = reply.json()["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains(why), "{name}: {detail}");
        assert!(!detail.contains("was given up"), "{name}: {detail}");
        // It is known now, and costs a look.
        let again = get(&drive, &path);
        again.expect_problem(422, "no_thumbnail");
        assert_eq!(again.cost(), (1, 0), "{name}");
    }
    let dead = Drive::jobs().into_iter().filter(|job| job["kind"] == "thumbnails" && job["state"] == "dead");
    for job in dead {
        assert_eq!(job["attempts"], 1, "{job}");
    }
}

/// A WebP whose canvas is small, and whose lossy frame says that it is as large as can be.
fn larger_frame() -> Vec<u8> {
    let mut frame = pictures::file("lossy.webp")[12..].to_vec();
    frame[14..18].copy_from_slice(&[0xff, 0x3f, 0xff, 0x3f]);
    let mut canvas = b"VP8X\x0a\0\0\0\0\0\0\0\x09\0\0\x09\0\0".to_vec();
    canvas.extend(frame);
    let size = u32::try_from(canvas.len() + 4).unwrap();
    let mut file = b"RIFF".to_vec();
    file.extend(size.to_le_bytes());
    file.extend(b"WEBP");
    file.extend(canvas);
    file
}

#[test]
fn what_says_that_it_is_no_picture_has_none_and_no_job() {
    let drive = Drive::new();
    save(&drive, "a.txt", "text/plain; charset=utf-8", b"text".to_vec());
    save(&drive, "empty.jpg", "image/jpeg", Vec::new());
    for (name, why) in
        [("a.txt", "text/plain is none of the formats that are read"), ("empty.jpg", "the file is empty")]
    {
        let reply = get(&drive, &format!("{name}?size=128"));
        reply.expect_problem(422, "no_thumbnail");
        assert!(reply.json()["detail"].as_str().unwrap().ends_with(why), "{}", reply.json());
        assert_eq!(reply.cost(), (1, 0));
    }
    // Its name and its type don't matter, as long as nobody has said that it is something else.
    save(&drive, "unnamed", "application/octet-stream", pictures::file("rgb.png"));
    assert_eq!(made(&drive, "unnamed?size=128").status, 200);
}

#[test]
fn a_large_picture_in_many_pieces_and_one_that_is_small_have_thumbnails() {
    let drive = Drive::new();
    // Nine MiB of comment behind the header, in several segments of the bucket.
    let picture = pictures::file("large.jpg");
    let mut long = picture[..2].to_vec();
    for n in 0..150 {
        long.extend([0xff, 0xfe, 0xff, 0xff]);
        long.extend(ledge_tests::noise(n, 65_533));
    }
    long.extend(&picture[2..]);
    assert_eq!(save(&drive, "long.jpg", "image/jpeg", long).status, 201);
    let reply = made(&drive, "long.jpg?size=1024");
    assert_eq!(reply.status, 200, "{}", String::from_utf8_lossy(&reply.body));
    let pixels = pictures::decode("image/jpeg", &reply.body);
    assert_eq!((pixels.width, pixels.height), (1024, 768));
    // All sizes of a pixel are the pixel, and stand in a row.
    save(&drive, "pixel.jpg", "image/jpeg", pictures::file("pixel.jpg"));
    let [small, large] = [128, 1024].map(|size| made(&drive, &format!("pixel.jpg?size={size}")));
    assert_eq!((small.status, small.cost(), small.body == large.body), (200, (1, 0), true));
}
