//! WebDAV: a folder of its own below `/dav/`, and requests to it.

mod wire;
mod xml;

pub use wire::Wire;
pub use xml::{Element, Multistatus, ResponseOf};

use crate::drive::{Drive, Reply};

/// A fresh folder, seen through WebDAV. Paths are percent-encoded already and go out as they are.
#[derive(Debug, Clone, Default)]
pub struct Dav {
    /// The same folder, seen through REST.
    pub rest: Drive,
}

impl Dav {
    /// Makes the folder.
    pub fn new() -> Self {
        Self::default()
    }

    /// The request target of something in the folder: `/dav/FOLDER/path`.
    pub fn target(&self, path: &str) -> String {
        format!("/dav{}", self.rest.path(path))
    }

    /// The absolute URL of something in the folder.
    pub fn url(&self, path: &str) -> String {
        Drive::absolute(&self.target(path))
    }

    /// A request with the token.
    pub fn request(&self, method: &str, path: &str) -> Wire {
        Wire::new(method, self.target(path)).signed()
    }

    /// Saves a file.
    pub fn put(&self, path: &str, content: impl Into<Vec<u8>>) -> Reply {
        self.request("PUT", path).body(content).send()
    }

    /// Reads a file.
    pub fn get(&self, path: &str) -> Reply {
        self.request("GET", path).send()
    }

    /// Reads a file with one more header.
    pub fn get_with(&self, path: &str, header: &str, value: &str) -> Reply {
        self.request("GET", path).header(header, value).send()
    }

    /// Puts something into the trash.
    pub fn delete(&self, path: &str) -> Reply {
        self.request("DELETE", path).send()
    }

    /// Makes a folder.
    pub fn mkcol(&self, path: &str) -> Reply {
        self.request("MKCOL", path).send()
    }

    /// COPY or MOVE, the destination an absolute URL.
    pub fn transfer(&self, method: &str, from: &str, to: &str) -> Wire {
        self.request(method, from).header("destination", self.url(to))
    }

    /// PROPFIND for what clients ask most.
    #[track_caller]
    pub fn propfind(&self, path: &str, depth: &str) -> Multistatus {
        self.properties(
            path,
            depth,
            "<displayname/><resourcetype/><getcontentlength/><getetag/><getlastmodified/><getcontenttype/>",
        )
    }

    /// PROPFIND for these properties: elements whose default namespace is `DAV:`.
    #[track_caller]
    pub fn properties(&self, path: &str, depth: &str, properties: &str) -> Multistatus {
        let body = format!("<propfind xmlns=\"DAV:\"><prop>{properties}</prop></propfind>");
        let reply = self.request("PROPFIND", path).header("depth", depth).xml(body).send();
        reply.multistatus()
    }

    /// PROPPATCH with these instructions: elements whose default namespace is `DAV:`.
    pub fn proppatch(&self, path: &str, instructions: &str) -> Reply {
        let body = format!("<propertyupdate xmlns=\"DAV:\">{instructions}</propertyupdate>");
        self.request("PROPPATCH", path).xml(body).send()
    }

    /// A request for an exclusive write lock.
    pub fn lock(&self, path: &str) -> Wire {
        self.request("LOCK", path).header("timeout", "Second-600").xml(
            "<lockinfo xmlns=\"DAV:\"><lockscope><exclusive/></lockscope><locktype><write/></locktype>\
             <owner>somebody</owner></lockinfo>",
        )
    }

    /// Takes an exclusive write lock, and gives its token.
    #[track_caller]
    pub fn locked(&self, path: &str) -> String {
        let reply = self.lock(path).send();
        assert!(matches!(reply.status, 200 | 201), "{} {}", reply.status, reply.text());
        reply.lock_token()
    }

    /// Gives a lock back.
    pub fn unlock(&self, path: &str, token: &str) -> Reply {
        self.request("UNLOCK", path).header("lock-token", format!("<{token}>")).send()
    }

    /// The names in a folder as WebDAV lists them, decoded; folders end with a slash.
    #[track_caller]
    pub fn names(&self, path: &str) -> Vec<String> {
        let folder = self.rest.path(path);
        let listed = self.propfind(path, "1");
        let mut names = Vec::new();
        for href in listed.hrefs() {
            let decoded = decoded(href);
            let rest =
                decoded.strip_prefix("/dav").and_then(|rest| rest.strip_prefix(folder.trim_end_matches('/')));
            let name = rest.unwrap_or_else(|| panic!("{href} is not in {folder}")).trim_start_matches('/');
            if !name.is_empty() {
                names.push(name.to_owned());
            }
        }
        names.sort();
        names
    }
}

impl Reply {
    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body of a 207.
    #[track_caller]
    pub fn multistatus(&self) -> Multistatus {
        assert_eq!(self.status, 207, "{}", self.text());
        assert!(self.header("content-type").contains("xml"), "{}", self.header("content-type"));
        Multistatus::parse(&self.body)
    }

    /// The body as XML.
    #[track_caller]
    pub fn xml(&self) -> Element {
        Element::parse(&self.body)
    }

    /// The token of the lock that was granted.
    #[track_caller]
    pub fn lock_token(&self) -> String {
        let token = self.header("lock-token");
        let token = token.strip_prefix('<').and_then(|token| token.strip_suffix('>'));
        token.unwrap_or_else(|| panic!("no Lock-Token: {:?}", self.headers)).to_owned()
    }

    /// Asserts an error body that names this precondition.
    #[track_caller]
    pub fn expect_precondition(&self, status: u16, name: &str) {
        assert_eq!(self.status, status, "{}", self.text());
        let error = self.xml();
        assert!(error.is("DAV:", "error") && error.find(name).is_some(), "{}", self.text());
    }
}

/// An href, percent-decoded.
pub fn decoded(href: &str) -> String {
    percent_encoding::percent_decode_str(href).decode_utf8().expect("UTF-8").into_owned()
}
