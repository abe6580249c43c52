//! What the conformance suite can't see: the files themselves.

use super::*;

struct Fixture {
    bucket: Folder,
    folder: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { bucket: Self::open(folder.path()), folder }
    }

    fn open(folder: &Path) -> Folder {
        Folder::open(folder.join("objects"), folder.join("incoming")).unwrap()
    }

    async fn put(&self, key: &str, bytes: &[u8]) -> Result<(), BucketError> {
        self.bucket.put(key, bytes, Sha256::of(bytes)).await
    }

    fn incoming(&self) -> usize {
        fs::read_dir(self.folder.path().join("incoming")).unwrap().count()
    }
}

#[tokio::test]
async fn a_damaged_object_leaves_nothing_behind() {
    let fixture = Fixture::new();
    let result = fixture.bucket.put("a/b", b"sent", Sha256::of(b"meant")).await;
    assert_eq!(result, Err(BucketError::Damaged("a/b".to_owned())));
    assert!(matches!(fixture.bucket.get("a/b", 0..1).await, Err(BucketError::NotFound(_))));
    assert_eq!(fixture.incoming(), 0);
}

#[tokio::test]
async fn a_key_and_keys_below_it_live_side_by_side() {
    let fixture = Fixture::new();
    for key in ["a", "a/b", "a/b/c"] {
        fixture.put(key, key.as_bytes()).await.unwrap();
    }
    fixture.bucket.delete(&["a/b".to_owned()]).await.unwrap();
    assert_eq!(fixture.bucket.get("a", 0..1).await.unwrap(), b"a");
    assert_eq!(fixture.bucket.get("a/b/c", 4..5).await.unwrap(), b"c");
    assert_eq!(fixture.incoming(), 0);
}

#[tokio::test]
async fn deleting_prunes_empty_folders_but_never_the_root() {
    let fixture = Fixture::new();
    fixture.put("a/b/c/d", b"x").await.unwrap();
    fixture.put("a/e", b"x").await.unwrap();
    let objects = fixture.folder.path().join("objects");
    fixture.bucket.delete(&["a/b/c/d".to_owned(), "../..".to_owned(), "none".to_owned()]).await.unwrap();
    assert!(!objects.join("a/b").exists() && objects.join("a").exists());
    fixture.bucket.delete(&["a/e".to_owned()]).await.unwrap();
    assert!(!objects.join("a").exists() && objects.exists());
}

#[tokio::test]
async fn ranges_outside_the_object_are_refused() {
    let fixture = Fixture::new();
    fixture.put("a", b"0123456789").await.unwrap();
    assert_eq!(fixture.bucket.get("a", 10..10).await.unwrap(), b"");
    #[expect(clippy::reversed_empty_ranges, reason = "that is the case")]
    for range in [0..11, 10..11, 11..11, 5..2, 0..u64::MAX] {
        let result = fixture.bucket.get("a", range.clone()).await;
        assert_eq!(result, Err(BucketError::OutOfRange("a".to_owned())), "{range:?}");
    }
}

#[tokio::test]
async fn keys_outside_the_contract_touch_no_file() {
    let fixture = Fixture::new();
    for key in ["../x", "/x", "a/../../x", ""] {
        assert!(matches!(fixture.put(key, b"x").await, Err(BucketError::Unavailable(_))), "{key}");
        assert!(matches!(fixture.bucket.get(key, 0..1).await, Err(BucketError::NotFound(_))), "{key}");
    }
    assert!(!fixture.folder.path().join("x").exists());
}

#[tokio::test]
async fn puts_and_deletes_in_one_folder_never_lose_an_object() {
    let fixture = Fixture::new();
    for round in 0..50 {
        let (mine, other) = (format!("a/b/{round}"), vec!["a/b/other".to_owned()]);
        fixture.put("a/b/other", b"x").await.unwrap();
        let (put, deleted) = tokio::join!(fixture.put(&mine, b"x"), fixture.bucket.delete(&other));
        put.unwrap();
        deleted.unwrap();
        fixture.bucket.get(&mine, 0..1).await.unwrap();
        fixture.bucket.delete(&[mine]).await.unwrap();
    }
}

#[test]
fn what_a_crash_left_long_ago_is_removed_at_the_next_start() {
    let fixture = Fixture::new();
    for (name, age) in [("old", ABANDONED_AFTER * 2), ("new", Duration::ZERO)] {
        let file = File::create(fixture.folder.path().join("incoming").join(name)).unwrap();
        file.set_modified(SystemTime::now() - age).unwrap();
    }
    Fixture::open(fixture.folder.path());
    assert_eq!(fixture.incoming(), 1);
}
