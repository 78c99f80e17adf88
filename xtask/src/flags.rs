//! The words of the command line.

use std::path::PathBuf;

xflags::xflags! {
    /// Everything CI does, as one program.
    cmd xtask {
        /// Format, clippy, tests, documentation and tidy.
        cmd ci {}

        /// Everything: `ci`, then conformance, interop and the fuzz targets for a moment.
        cmd test {}

        /// The rules of the code that no compiler knows.
        cmd tidy {}

        /// The official conformance suite against the example server `everything`.
        cmd conformance {
            /// A server that already runs, instead of starting one.
            optional --url url: String
            /// Another program with the flags of `everything`.
            optional --server program: PathBuf
            /// Write the baseline anew, keeping the reasons it has.
            optional --bless
        }

        /// The official clients against the example server `everything`.
        cmd interop {
            /// Another program with the flags of `everything`.
            optional --server program: PathBuf
            /// Only the clients whose name contains this.
            optional --only name: String
        }

        /// Which requirements of the specification the tests name.
        cmd requirements {
            /// Also print the open ids of this area (`all` for every area).
            optional --open area: String
        }

        /// The yardstick of shared/bench with our `bench` example as one more contestant.
        cmd bench {
            /// Another program with the flags of `bench`.
            optional --server program: PathBuf
            /// Every part once and short.
            optional --quick
            /// Contestants, comma separated.
            optional --only names: String
            /// Features of ours, comma separated.
            optional --features names: String
            /// Further arguments of run.py, after `--`.
            repeated arguments: String
        }

        /// Each fuzz target for a while.
        cmd fuzz {
            /// Seconds for each target.
            optional --seconds seconds: u32
            /// Only these targets.
            repeated targets: String
        }

        /// The golden request and reply pairs.
        cmd vectors {
            /// Write what the code answers now.
            optional --bless
        }
    }
}
