//! A stdio server that has more going on than its calls: a thread that ticks for ever, a
//! connection to a store, and a tool that prints.

use std::{thread, time::Duration};

use mcp_core::{Registry, ServerConfig, State, tool};

/// A connection that has to be closed.
struct Store;

impl Drop for Store {
    #[expect(clippy::print_stderr, reason = "the test reads it")]
    fn drop(&mut self) {
        eprintln!("the store was closed");
    }
}

#[derive(Clone)]
#[expect(dead_code, reason = "it is held, not used")]
struct Pool(std::sync::Arc<Store>);

#[expect(clippy::print_stdout, reason = "just what a handler should not do")]
async fn chatter((): (), State(_pool): State<Pool>) -> &'static str {
    println!("a stray line");
    "printed"
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    thread::spawn(|| {
        loop {
            thread::sleep(Duration::from_millis(20));
        }
    });
    let registry = Registry::builder("lodger", "1.0.0")
        .state(Pool(std::sync::Arc::new(Store)))
        .tool(tool("chatter", chatter))
        .build(ServerConfig::default())?;
    mcp_stdio::serve(registry).await?;
    Ok(())
}
