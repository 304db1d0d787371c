//! Where the schema of a URN comes from.

use std::collections::HashMap;
use std::error::Error;
use std::sync::Arc;

use foldhash::quality::RandomState;

use crate::schema::{Schema, SchemaError, Warning};

/// A source of schemas: one for each message URN that has one.
pub trait Provider {
    /// Returns the schema registered for `urn`, or `None` where there is none: then the caller
    /// validates nothing.
    ///
    /// # Errors
    /// [`ProviderError`] where the source could not answer; asking again later may succeed.
    fn schema(&self, urn: &str) -> Result<Option<Arc<Schema>>, ProviderError>;
}

impl<P: Provider + ?Sized> Provider for &P {
    fn schema(&self, urn: &str) -> Result<Option<Arc<Schema>>, ProviderError> {
        (**self).schema(urn)
    }
}

impl<P: Provider + ?Sized> Provider for Arc<P> {
    fn schema(&self, urn: &str) -> Result<Option<Arc<Schema>>, ProviderError> {
        (**self).schema(urn)
    }
}

/// Why a provider could not say which schema a URN has.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProviderError {
    /// The schema was found and is wrong.
    #[error("the schema {name} is wrong")]
    Schema {
        /// The file or other source of the schema.
        name: String,
        /// What is wrong with it.
        source: SchemaError,
    },
    /// The schema's file could not be read.
    #[error("cannot read the schema {name}")]
    Read {
        /// The file.
        name: String,
        /// Why not.
        source: std::io::Error,
    },
    /// Whatever else a provider of yours meets.
    #[error("the schema source failed")]
    Other(#[source] Box<dyn Error + Send + Sync>),
}

/// A schema given to [`MapProvider::new`] that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the schema of `{urn}` is wrong")]
pub struct RegisterError {
    /// Whose schema.
    pub urn: String,
    /// What is wrong with it.
    pub source: SchemaError,
}

/// A warning, with the URN whose schema gives it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RegisteredWarning {
    /// Whose schema.
    pub urn: String,
    /// The keyword that is not enforced, and its place.
    pub warning: Warning,
}

/// Tells `tracing` of the keywords in a newly registered schema that are not enforced.
pub(crate) fn warn<'a>(urn: &'a str, schema: &'a Schema) -> impl Iterator<Item = RegisteredWarning> + 'a {
    schema.warnings().iter().map(move |warning| {
        tracing::warn!(urn, pointer = %warning.pointer, keyword = warning.keyword, "schema keyword is not enforced");
        RegisteredWarning { urn: urn.to_owned(), warning: warning.clone() }
    })
}

/// Schemas held in memory, fixed once made.
///
/// ```
/// use bq_contract::{MapProvider, check};
/// let provider = MapProvider::new([("urn:babel:orders:created", br#"{"required": ["order_id"]}"#)])?;
/// assert!(check(&provider, "urn:babel:orders:created", b"{}").is_err());
/// # Ok::<(), bq_contract::RegisterError>(())
/// ```
#[derive(Debug, Default)]
pub struct MapProvider {
    schemas: HashMap<String, Arc<Schema>, RandomState>,
    warnings: Vec<RegisteredWarning>,
}

impl MapProvider {
    /// Reads the schema texts of `schemas`, pairs of URN and text. Of pairs with one URN the last counts.
    ///
    /// # Errors
    /// [`RegisterError`] for the first text that is no schema.
    pub fn new<U: Into<String>, T: AsRef<[u8]>>(
        schemas: impl IntoIterator<Item = (U, T)>,
    ) -> Result<Self, RegisterError> {
        let mut provider = Self::default();
        for (urn, text) in schemas {
            let urn = urn.into();
            match Schema::parse(text.as_ref()) {
                Ok(schema) => {
                    provider.warnings.retain(|known| known.urn != urn);
                    provider.warnings.extend(warn(&urn, &schema));
                    provider.schemas.insert(urn, Arc::new(schema));
                }
                Err(source) => return Err(RegisterError { urn, source }),
            }
        }
        Ok(provider)
    }

    /// Returns the warnings of all schemas, in the order in which they were given.
    #[must_use]
    pub fn warnings(&self) -> &[RegisteredWarning] {
        &self.warnings
    }
}

impl Provider for MapProvider {
    fn schema(&self, urn: &str) -> Result<Option<Arc<Schema>>, ProviderError> {
        Ok(self.schemas.get(urn).cloned())
    }
}
