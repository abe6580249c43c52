//! The readers of pictures, and what makes thumbnails of them.

use std::panic::catch_unwind;

use super::{Random, changed, corpus, number};

/// What becomes of a file; the number of its thumbnails.
fn read(file: &[u8]) -> usize {
    let Ok(made) = ledge_pictures::thumbnails(file.to_vec()) else { return 0 };
    let sizes: Vec<u32> = made.iter().flat_map(|one| one.sizes.clone()).collect();
    assert_eq!(sizes, ledge_pictures::SIZES, "each size has one");
    for one in &made {
        assert!(one.width.max(one.height) <= one.sizes[0] && one.width.min(one.height) > 0);
        assert!(!one.bytes.is_empty());
    }
    made.len()
}

#[test]
fn no_bytes_are_too_much_for_the_readers_of_pictures() {
    let corpus = corpus("pictures");
    assert!(corpus.len() >= 30, "{} pictures", corpus.len());
    let whole = corpus.iter().filter(|file| read(file) > 0).count();
    assert!(whole >= 30, "{whole} pictures");
    let executions = number("LEDGE_FUZZ_EXECUTIONS", 20_000);
    let mut random = Random(number("LEDGE_FUZZ_SEED", 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut made = 0;
    for n in 0..executions {
        let file = changed(&mut random, &corpus);
        match catch_unwind(|| read(&file)) {
            Ok(thumbnails) => made += u64::from(thumbnails > 0),
            Err(_) => {
                let kept =
                    std::env::temp_dir().join(format!("ledge-fuzz-picture-{}-{n}", std::process::id()));
                std::fs::write(&kept, &file).expect("a temporary folder");
                panic!("execution {n}: {} has what panicked", kept.display());
            }
        }
    }
    assert!(made > 0, "changes leave nothing to read");
    println!("{executions} executions, {made} pictures with thumbnails");
}
