//! Folders.

use ledge_tests::Drive;

#[test]
fn a_folder_is_made_once_and_found_after() {
    let drive = Drive::new();
    let made = drive.make_folder("photos");
    assert_eq!(made.status, 201);
    let folder = made.json();
    assert_eq!((folder["name"].as_str(), folder["kind"].as_str()), (Some("photos"), Some("folder")));
    let found = drive.make_folder("photos/");
    assert_eq!(found.status, 200);
    assert_eq!(found.json()["id"], folder["id"]);
}

#[test]
fn a_folder_needs_its_parent_and_a_free_name() {
    let drive = Drive::new();
    drive.make_folder("a/b").expect_problem(409, "parent_missing");
    assert_eq!(drive.put("file", "x").status, 201);
    drive.make_folder("file").expect_problem(409, "is_a_file");
    drive.make_folder("file/below").expect_problem(409, "not_a_folder");
    drive.put("file/below", "x").expect_problem(409, "not_a_folder");
    drive.put("none/below", "x").expect_problem(409, "parent_missing");
    assert_eq!(drive.make_folder("dir").status, 201);
    drive.put("dir", "x").expect_problem(409, "is_a_folder");
    drive.get("dir").expect_problem(409, "is_a_folder");
}

#[test]
fn twins_by_normal_form_are_one_folder() {
    let drive = Drive::new();
    let made = drive.make_folder("cafe%CC%81");
    let found = drive.make_folder("caf%C3%A9");
    assert_eq!((made.status, found.status), (201, 200));
    assert_eq!(made.json()["id"], found.json()["id"]);
    assert_eq!(drive.put("caf%C3%A9/x", "1").status, 201);
    assert_eq!(drive.get("cafe%CC%81/x").body, b"1");
}
