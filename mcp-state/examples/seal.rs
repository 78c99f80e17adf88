//! Seals a web form's hidden field and a pagination cursor: nothing here knows MCP.
//!
//! ```text
//! cargo run -p mcp-state --example seal
//! ```

use std::io::{self, Write};

use mcp_state::{KeyRing, Purpose, Sealer};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = io::stdout().lock();
    // Several workers share secrets; take them from the environment or a secret store.
    let ring = match std::env::var("STATE_SECRET") {
        Ok(secret) => KeyRing::new([secret])?,
        Err(_) => KeyRing::ephemeral(),
    };

    // A hidden field, bound to the user it was rendered for.
    let forms = Sealer::new(&ring, Purpose::Application("checkout-form"));
    let hidden = forms.seal(br#"{"cart":17,"price_cents":4200}"#, b"user:alice")?;
    writeln!(out, "<input type=hidden name=state value={hidden}>")?;
    for user in ["user:alice", "user:mallory"] {
        match forms.open(&hidden, user.as_bytes()) {
            Ok(state) => writeln!(out, "{user} posts it: {}", String::from_utf8_lossy(&state))?,
            Err(refused) => writeln!(out, "{user} posts it: {refused}")?,
        }
    }

    // A cursor, bound to the list it pages through. A form's token is no cursor.
    let cursors = Sealer::new(&ring, Purpose::Cursor);
    let cursor = cursors.seal(b"after=invoice-0042", b"invoices")?;
    writeln!(out, "next page: /invoices?cursor={cursor}")?;
    writeln!(
        out,
        "the form as a cursor: {:?}",
        cursors.open(&hidden, b"invoices")
    )?;
    Ok(())
}
