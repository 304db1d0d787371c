//! The data that judges this project lies beside it, not in it.

use std::path::PathBuf;

/// Returns the path of `name` in the shared folder: `BQ_SHARED`, else `../shared` beside the project.
///
/// Where it is absent, the test that asks fails in CI and is loudly skipped elsewhere.
pub(crate) fn folder(name: &str) -> Option<PathBuf> {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared");
    let shared = PathBuf::from(std::env::var_os("BQ_SHARED").unwrap_or_else(|| default.into()));
    let path = shared.join(name);
    if path.exists() {
        return Some(path);
    }
    assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "{} is absent", path.display());
    eprintln!("SKIPPED: {} is absent; set BQ_SHARED to the folder of shared test data", path.display());
    None
}
