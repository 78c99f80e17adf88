//! Ways in for the targets in `fuzz/`, to what applications reach only through a server.

use crate::uri_template::UriTemplate;

/// Parses a template, and takes the variables out of a URI: what they are, and the same once more
/// of the URI that they expand to.
#[must_use]
pub fn uri_template(template: &str, uri: &str) -> Option<[Vec<(String, String)>; 2]> {
    let template = UriTemplate::parse(template).ok()?;
    let variables = template.matches(uri).ok()??;
    let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    let found = variables.iter().map(owned).collect();
    let again = template
        .matches(&template.expand(&variables))
        .ok()
        .flatten();
    let again = again.iter().flat_map(|it| it.iter().map(owned)).collect();
    Some([found, again])
}
