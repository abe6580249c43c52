//! XML answers, read by a parser of their own: what isn't well-formed fails the test.

/// An element with all that is in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Element {
    /// The namespace's name, not its prefix.
    pub namespace: String,
    /// The local name.
    pub name: String,
    /// Its own or an inherited `xml:lang`.
    pub lang: Option<String>,
    /// All text that is in it, of its children too.
    pub text: String,
    /// The elements in it.
    pub children: Vec<Element>,
}

/// What a PROPFIND, PROPPATCH, or an operation that failed in parts answered.
#[derive(Debug, Clone)]
pub struct Multistatus {
    /// One for each resource.
    pub responses: Vec<ResponseOf>,
}

/// What was said of one resource.
#[derive(Debug, Clone)]
pub struct ResponseOf {
    /// Its href, as sent.
    pub href: String,
    /// Its status, where there is one for the whole of it.
    pub status: Option<u16>,
    /// Properties with their statuses, in order.
    pub properties: Vec<(u16, Element)>,
    /// The whole element.
    pub element: Element,
}

impl Element {
    /// Reads a document.
    #[track_caller]
    pub fn parse(bytes: &[u8]) -> Self {
        let text = std::str::from_utf8(bytes).expect("UTF-8");
        let document = roxmltree::Document::parse(text).unwrap_or_else(|error| panic!("{error} in {text}"));
        Self::of(document.root_element())
    }

    fn of(node: roxmltree::Node<'_, '_>) -> Self {
        let lang = |node: roxmltree::Node<'_, '_>| {
            node.attribute(("http://www.w3.org/XML/1998/namespace", "lang")).map(str::to_owned)
        };
        Self {
            namespace: node.tag_name().namespace().unwrap_or_default().to_owned(),
            name: node.tag_name().name().to_owned(),
            lang: node.ancestors().find_map(lang),
            text: node
                .descendants()
                .filter(roxmltree::Node::is_text)
                .filter_map(|text| text.text())
                .collect(),
            children: node.children().filter(roxmltree::Node::is_element).map(Self::of).collect(),
        }
    }

    /// Whether this is its name.
    pub fn is(&self, namespace: &str, name: &str) -> bool {
        self.namespace == namespace && self.name == name
    }

    /// The elements in it with this name in `DAV:`.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Self> {
        self.children.iter().filter(move |child| child.is("DAV:", name))
    }

    /// The first element at the end of a path of names in `DAV:`, such as `prop/lockdiscovery`.
    pub fn find(&self, path: &str) -> Option<&Self> {
        path.split('/')
            .try_fold(self, |element, name| element.children.iter().find(|child| child.is("DAV:", name)))
    }

    /// The text at the end of a path, without white space around it.
    #[track_caller]
    pub fn text_of(&self, path: &str) -> &str {
        self.find(path).unwrap_or_else(|| panic!("no {path} in {self:?}")).text.trim()
    }
}

impl Multistatus {
    /// Reads a body.
    #[track_caller]
    pub fn parse(bytes: &[u8]) -> Self {
        let root = Element::parse(bytes);
        assert!(root.is("DAV:", "multistatus"), "{} in {}", root.name, root.namespace);
        Self {
            responses: root
                .children
                .into_iter()
                .filter(|child| child.is("DAV:", "response"))
                .map(read)
                .collect(),
        }
    }

    /// All hrefs, as sent.
    pub fn hrefs(&self) -> Vec<&str> {
        self.responses.iter().map(|response| response.href.as_str()).collect()
    }

    /// What was said of the only resource.
    #[track_caller]
    pub fn only(&self) -> &ResponseOf {
        assert_eq!(self.responses.len(), 1, "{:?}", self.hrefs());
        &self.responses[0]
    }

    /// What was said of the resource whose href ends so, as sent.
    #[track_caller]
    pub fn of(&self, end: &str) -> &ResponseOf {
        let found = self.responses.iter().find(|response| response.href.ends_with(end));
        found.unwrap_or_else(|| panic!("no href ends with {end:?}: {:?}", self.hrefs()))
    }
}

impl ResponseOf {
    /// A property in `DAV:` that was found.
    #[track_caller]
    pub fn property(&self, name: &str) -> &Element {
        self.custom("DAV:", name)
    }

    /// A property that was found.
    #[track_caller]
    pub fn custom(&self, namespace: &str, name: &str) -> &Element {
        let found = self.properties.iter().find(|(status, it)| *status == 200 && it.is(namespace, name));
        &found.unwrap_or_else(|| panic!("no {name} of {namespace} among {:?}", self.properties)).1
    }

    /// The text of a property in `DAV:` that was found.
    #[track_caller]
    pub fn text(&self, name: &str) -> &str {
        self.property(name).text.as_str()
    }

    /// The status of a property, if it was mentioned.
    pub fn status_of(&self, namespace: &str, name: &str) -> Option<u16> {
        self.properties.iter().find(|(_, it)| it.is(namespace, name)).map(|(status, _)| *status)
    }

    /// Whether it is called a collection.
    pub fn is_collection(&self) -> bool {
        self.property("resourcetype").find("collection").is_some()
    }
}

fn read(element: Element) -> ResponseOf {
    let mut properties = Vec::new();
    for propstat in element.all("propstat") {
        let code = status(propstat.text_of("status"));
        let prop = propstat.find("prop").expect("a propstat has properties");
        properties.extend(prop.children.iter().map(|property| (code, property.clone())));
    }
    ResponseOf {
        href: element.text_of("href").to_owned(),
        status: element.find("status").map(|line| status(line.text.trim())),
        properties,
        element,
    }
}

/// The code of a status line.
fn status(line: &str) -> u16 {
    let code = line.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.split(' ').next()?.parse().ok());
    code.unwrap_or_else(|| panic!("{line:?} is no status line"))
}
